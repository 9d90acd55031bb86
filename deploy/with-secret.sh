#!/bin/sh
# Runs a program with the password of the database from a file, so that it stands in no list of processes.
set -eu
if [ -n "${LOOSELEAF_SECRET:-}" ]; then
    PGPASSWORD="$(cat "$LOOSELEAF_SECRET")"
    export PGPASSWORD
fi
exec "$@"
