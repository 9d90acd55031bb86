"""A backup is worth what its restore was: a base backup and the archived log of the server bring all back."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.store.postgres.database import close_all
from looseleaf.store.postgres.embedded import OWNER, SUPERUSER, EmbeddedServer, find_programs
from postgres import Running, own_server, prepare


def wait_for_archive(running: Running) -> None:
    """Wait until all that was written is archived."""
    [[last]] = running.execute("SELECT pg_walfile_name(pg_switch_wal())")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        [[done]] = running.execute("SELECT last_archived_wal FROM pg_stat_archiver")
        if done is not None and done >= last:
            return
        time.sleep(0.1)
    raise AssertionError("nothing was archived")


@pytest.mark.long
def test_a_base_backup_and_the_archived_log_bring_every_acknowledged_message_back() -> None:
    archive, restored = (Path(tempfile.mkdtemp(prefix="looseleaf-")) for _ in range(2))
    copy = f"test ! -f {archive}/%f && cp %p {archive}/%f"
    settings = {"wal_level": "replica", "archive_mode": "on", "archive_command": copy, "max_wal_senders": "3"}
    try:
        with own_server(**settings) as running:
            uid = (running.server.data).stat().st_uid
            os.chown(archive, uid, -1)
            os.chown(restored, uid, -1)
            prepare(running)
            database = running.database()
            address = running.address(database, namespace="people/mira")
            with Memory(address) as memory:
                for number in range(30):
                    memory.record(user=f"Message {number}: I live in Lyon.")
                memory.distill()
                with open(running.server.folder / "access.conf", "a", encoding="utf-8") as access:
                    access.write(f"local replication {SUPERUSER} peer map=own\n")
                running.execute("SELECT pg_reload_conf()")
                time.sleep(0.5)
                program = str(Path(find_programs()) / "pg_basebackup")
                given = [
                    program,
                    "-h",
                    str(running.server.data),
                    "-U",
                    SUPERUSER,
                    "-D",
                    str(restored / "data"),
                ]
                given += ["-X", "none", "-c", "fast"]
                done = subprocess.run(given, capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stderr
                for number in range(30, 60):
                    memory.record(user=f"Message {number}: I moved to Lisbon.")
                memory.remember("My sister is called Zora.")
                facts = [fact.to_dict() for fact in memory.facts()]
            wait_for_archive(running)
            close_all()
            running.server.kill()
            shutil.rmtree(running.server.data)
        for path in (restored, *restored.rglob("*")):
            os.chown(path, uid, -1)
        again = EmbeddedServer(restored, {"restore_command": f"cp {archive}/%f %p"})
        (restored / "data/recovery.signal").touch()
        os.chown(restored / "data/recovery.signal", uid, -1)
        with again.running():
            back = Running(again)
            deadline = time.monotonic() + 30
            while back.execute("SELECT pg_is_in_recovery()") == [(True,)] and time.monotonic() < deadline:
                time.sleep(0.1)
            with Memory(back.address(database, namespace="people/mira")) as memory:
                said = [trace.content for trace in memory.talk.tail(200)]
                assert [text.partition(":")[0] for text in said] == [
                    f"Message {number}" for number in range(60)
                ]
                assert [fact.to_dict() for fact in memory.facts()] == facts
                assert list(memory.check()) == []
                memory.record(user="It goes on.")
            assert back.execute("SELECT count(*) FROM looseleaf.memories", database=database, role=OWNER) == [
                (1,)
            ]
            close_all()
    finally:
        for folder in (archive, restored):
            shutil.rmtree(folder, ignore_errors=True)
