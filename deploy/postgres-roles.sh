#!/bin/sh
# Makes the two roles and the database, when PostgreSQL begins in an empty folder. The passwords come from files.
set -eu
psql --username postgres --dbname postgres --set ON_ERROR_STOP=1 \
    --set owner="$(cat /run/secrets/owner)" --set program="$(cat /run/secrets/program)" <<'SQL'
CREATE ROLE looseleaf_owner LOGIN PASSWORD :'owner';
CREATE ROLE looseleaf LOGIN PASSWORD :'program';
CREATE DATABASE memories OWNER looseleaf_owner ENCODING 'UTF8';
SQL
