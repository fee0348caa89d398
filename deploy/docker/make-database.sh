#!/bin/sh
# Runs once, in an empty database server: the role of Backstory owns its database and is no superuser, since row-level security does not
# hold for superusers.
set -eu
psql --set ON_ERROR_STOP=1 --set password="${DATABASE_PASSWORD:?}" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE backstory LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE backstory OWNER backstory ENCODING 'UTF8' TEMPLATE template0;
\connect backstory
CREATE EXTENSION vector;
SQL
