# PgBouncer from Debian, with the settings of pgbouncer.ini
FROM debian:trixie-slim
RUN apt-get update && apt-get install --yes --no-install-recommends pgbouncer && rm -rf /var/lib/apt/lists/*
COPY pgbouncer.ini /etc/pgbouncer/pgbouncer.ini
COPY start-pgbouncer.sh /usr/local/bin/start-pgbouncer.sh
USER postgres
EXPOSE 6432
STOPSIGNAL SIGINT
ENTRYPOINT ["sh", "/usr/local/bin/start-pgbouncer.sh"]
