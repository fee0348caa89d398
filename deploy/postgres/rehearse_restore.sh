#!/bin/sh
# Rehearse a restore: recover a base backup and the archived log to a moment, beside the running database, and look at the result.
#
#   deploy/postgres/rehearse_restore.sh BASE ARCHIVE MOMENT [COMMAND ...]
#
# BASE is a directory that pg_basebackup made (plain format), ARCHIVE the directory that archive_command copies to, MOMENT a time
# such as '2026-11-18 14:30:00+00'. COMMAND runs with BACKSTORY_DATABASE_URL set to the recovered database; without one, tenants are
# listed with their sizes and every store is checked. Both directories are only read. The copy is reachable through a socket that
# only its user can open, and is deleted at the end. As root the copy runs as the owner of BASE.
#
# PATH must have pg_ctl and pg_controldata of the major version that made BASE. DATABASE and DATABASE_USER (default: backstory) name the database.
set -eu

if [ $# -lt 3 ]; then
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
base=$1 archive=$(cd "$2" && pwd) moment=$3
shift 3
database=${DATABASE:-backstory} database_user=${DATABASE_USER:-backstory}

if [ ! -f "$base/PG_VERSION" ]; then
    echo "$base is no base backup in plain format." >&2
    exit 2
fi
if [ -n "$(ls -A "$base/pg_tblspc")" ]; then
    # their links lead to where the backup has them, so that the copy would write there
    echo "$base has tablespaces; restore it by hand, with each of them in a new place." >&2
    exit 2
fi

owner() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid="$(stat -c %u "$base")" --regid="$(stat -c %g "$base")" --clear-groups "$@"
    else
        "$@"
    fi
}

work=$(mktemp -d)
data=$work/data
end() {
    owner pg_ctl -D "$data" -m immediate -w stop >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM

cp -R "$base" "$data"
rm -f "$data/postmaster.pid" "$data/standby.signal"
: >"$data/recovery.signal"
[ -f "$data/postgresql.conf" ] || : >"$data/postgresql.conf"
echo "local all all trust" >"$work/pg_hba.conf"
: >"$work/pg_ident.conf"
quoted() { printf %s "$1" | sed "s/'/''/g"; }
cat >>"$data/postgresql.auto.conf" <<END
restore_command = 'cp "$(quoted "$archive")/%f" "%p"'
recovery_target = ''
recovery_target_lsn = ''
recovery_target_name = ''
recovery_target_xid = ''
recovery_target_time = '$(quoted "$moment")'
recovery_target_action = 'promote'
archive_mode = off
primary_conninfo = ''
listen_addresses = ''
unix_socket_directories = '$(quoted "$work")'
port = 5432
ssl = off
hba_file = '$(quoted "$work")/pg_hba.conf'
ident_file = '$(quoted "$work")/pg_ident.conf'
logging_collector = off
END
chmod 700 "$work" "$data"
[ "$(id -u)" != 0 ] || chown -R "$(stat -c %u:%g "$base")" "$work"

if ! owner pg_ctl -D "$data" -l "$work/log" -w -t "${TIMEOUT_S:-3600}" start >/dev/null; then
    echo "The database did not reach $moment. Its log ends with:" >&2
    tail -n 20 "$work/log" >&2
    exit 1
fi
# `-w` returns when the copy may be read, which is before it was recovered
until LC_ALL=C owner pg_controldata -D "$data" | grep -q 'cluster state: *in production'; do
    if ! owner pg_ctl -D "$data" status >/dev/null; then
        echo "The database did not reach $moment. Its log ends with:" >&2
        tail -n 20 "$work/log" >&2
        exit 1
    fi
    sleep 0.2
done
echo "Recovered to $moment."

BACKSTORY_DATABASE_URL="postgresql://$database_user@$(printf %s "$work" | sed 's|/|%2F|g')/$database"
export BACKSTORY_DATABASE_URL
if [ $# -gt 0 ]; then
    "$@"
else
    backstory admin tenants size
    backstory integrity
fi
