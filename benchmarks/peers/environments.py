"""Throw-away environments: one for each peer, in a folder that may be kept, with what it took on disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.peers.catalog import Entry
from benchmarks.peers.wire import disk

HERE = Path(__file__).parent.parent.parent
INSTALLING = 1200
"""Seconds that an installation may take."""


class NotThere(Exception):
    """A peer that cannot be run here, with the reason."""


@dataclass(frozen=True)
class Environment:
    home: str
    python: str
    version: str
    bytes: int
    """What came with it, beyond an empty environment."""
    program: str = ""

    def command(self, adapter: str) -> list[str]:
        """Without the folder of the script in front: adapters have the names of what they import."""
        return [self.python, "-P", str(HERE / f"benchmarks/peers/{adapter}.py")]

    def variables(self) -> dict[str, str]:
        """With bytecode, which an installation writes, and nothing of the person who runs this."""
        own = {"PYTHONPATH": str(HERE), "PEER_HOME": self.home, "PEER_PROGRAM": self.program}
        dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "LOOSELEAF_HOME", "VIRTUAL_ENV")
        return {name: value for name, value in os.environ.items() if name not in dropped} | own


def environment(entry: Entry, envs: Path) -> Environment:
    """The environment of a peer, made if it is missing. Ours is always installed anew."""
    home = envs.resolve() / entry.name
    stamp = home / "installed.json"
    if stamp.exists() and entry.kind != "checkout":
        return Environment(**json.loads(stamp.read_text()))
    if entry.kind != "checkout":
        shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True, exist_ok=True)
    made = MAKERS[entry.kind](entry, home)
    stamp.write_text(json.dumps(asdict(made)))
    return made


def _standard(entry: Entry, home: Path) -> Environment:
    import sqlite3

    return Environment(str(home), sys.executable, f"SQLite {sqlite3.sqlite_version}", 0)


def _pip(entry: Entry, home: Path) -> Environment:
    python = home / "bin/python"
    run([interpreter(entry), "-m", "venv", str(home)])
    before = disk(str(home / "lib"))
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        run([*install, *entry.packages])
    except NotThere:
        if not entry.older:
            raise
        run([*install, entry.older])
    return Environment(
        str(home), str(python), _version(python, entry.packages[0]), disk(str(home / "lib")) - before
    )


def _checkout(entry: Entry, home: Path) -> Environment:
    """Ours, as anybody installs it."""
    python = home / "bin/python"
    empty = home / "empty"
    if not python.exists() or not empty.exists():
        run([sys.executable, "-m", "venv", "--clear", str(home)])
        empty.write_text(str(disk(str(home / "lib"))))
        run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(HERE)])
    options = ["--force-reinstall", "--no-deps", "--quiet", "--disable-pip-version-check"]
    run([str(python), "-m", "pip", "install", *options, str(HERE)])
    size = disk(str(home / "lib")) - int(empty.read_text())
    return Environment(str(home), str(python), _version(python, entry.packages[0]), size)


def _npm(entry: Entry, home: Path) -> Environment:
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise NotThere("node is not here")
    (home / "package.json").write_text("{}")
    run(["npm", "install", "--silent", "--prefix", str(home), *entry.packages])
    about = json.loads((home / "node_modules" / entry.packages[0] / "package.json").read_text())
    return Environment(str(home), sys.executable, about["version"], disk(str(home / "node_modules")))


def _program(entry: Entry, home: Path) -> Environment:
    """The program of the machine, or the one of its Debian package, unpacked and not installed."""
    found = shutil.which("rg")
    if found is None:
        if shutil.which("apt-get") is None:
            raise NotThere("rg is not here")
        run(["apt-get", "download", "--quiet", *entry.packages], cwd=home)
        (package,) = home.glob("*.deb")
        run(["dpkg-deb", "-x", str(package), str(home)])
        package.unlink()
        found = str(home / "usr/bin/rg")
    version = run([found, "--version"]).split()[1]
    return Environment(str(home), sys.executable, version, os.path.getsize(found), found)


def _here(entry: Entry, home: Path) -> Environment:
    """What runs this, with the extra."""
    try:
        from looseleaf.base.errors import Refused
        from looseleaf.index.embed import minilm

        minilm()
    except (ImportError, Refused) as error:
        raise NotThere(str(error)) from error
    return Environment(str(home), sys.executable, _version(Path(sys.executable), "looseleaf"), 0)


MAKERS = {
    "here": _here,
    "pip": _pip,
    "npm": _npm,
    "program": _program,
    "checkout": _checkout,
    "standard library": _standard,
}


def interpreter(entry: Entry) -> str:
    """A Python of this machine that can run it: the one that runs this, else another."""
    test = f"import sys, sqlite3; assert sys.version_info >= {entry.least}"
    if entry.loads_extensions:
        test += "; assert hasattr(sqlite3.Connection, 'enable_load_extension')"
    for name in pythons():
        python = shutil.which(name)
        if python and subprocess.run([python, "-c", test], capture_output=True, check=False).returncode == 0:
            return python
    needs = "{}.{}".format(*entry.least) + (
        " whose SQLite loads extensions" if entry.loads_extensions else ""
    )
    raise NotThere(f"there is no Python {needs}")


def pythons() -> list[str]:
    named = [sys.executable, "/usr/bin/python3", *(f"python3.{minor}" for minor in (12, 13, 14))]
    return named + sorted(map(str, Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python")))


def _version(python: Path, package: str) -> str:
    return run([str(python), "-c", f"import importlib.metadata as m; print(m.version({package!r}))"]).strip()


def run(command: Sequence[str], cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, timeout=INSTALLING, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotThere(f"it could not be installed: {error}") from error
    if done.returncode:
        lines = [
            line for line in done.stderr.splitlines() if "error" in line.lower()
        ] or done.stderr.splitlines()
        raise NotThere(f"it could not be installed: {' '.join(lines[-1:])[:200]}")
    return done.stdout
