#!/bin/sh
# Write the one user that PgBouncer lets in, then run it.
set -eu
umask 077
printf '"backstory" "%s"\n' "${DATABASE_PASSWORD:?}" > /tmp/userlist.txt
exec /usr/sbin/pgbouncer /etc/pgbouncer/pgbouncer.ini
