"""Hosts on one network, each a network namespace: `make scale` gives this process its own ones.

The bridge that joins them leads nowhere else, and what runs on them ends with this process, since
it is the first of a process namespace.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from launch.accounts import Account

BRIDGE, HERE = "colloquy0", "10.0.0.1"
# A host has a name of its own; a program may need to run as somebody else there.
AS_HOST = ("unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"')


class Network:
    """The bridge, which this process reaches as HERE, and its hosts."""

    def __init__(self, home: Path) -> None:
        self._home, self._file = home, home / "hosts"
        self._hosts: list[Host] = []
        self._names = {"localhost": "127.0.0.1"}

    def __enter__(self) -> "Network":
        found = [line.split()[1] for line in _run("ip", "-o", "link").splitlines()]
        if found != ["lo:"]:
            raise RuntimeError(f"This is the machine's own network ({found}): use `make scale`.")
        _run("mount", "-t", "tmpfs", "tmpfs", "/run")
        self._file.touch()
        _run("mount", "--bind", str(self._file), "/etc/hosts")
        _run("ip", "link", "set", "lo", "up")
        _run("ip", "link", "add", BRIDGE, "type", "bridge")
        _run("ip", "address", "add", f"{HERE}/24", "dev", BRIDGE)
        _run("ip", "link", "set", BRIDGE, "up")
        return self

    def __exit__(self, *_: object) -> None:
        for host in self._hosts:
            host.kill()
        _run("umount", "/etc/hosts")

    def add(self, name: str, address: str, *others: str) -> "Host":
        """Add a host under this name, and under others for what it serves."""
        _run("ip", "netns", "add", name)
        _run("ip", "link", "add", name, "type", "veth", "peer", "eth0", "netns", name)
        _run("ip", "link", "set", name, "master", BRIDGE, "up")
        inside = ("ip", "-n", name)
        _run(*inside, "link", "set", "lo", "up")
        _run(*inside, "address", "add", f"{address}/24", "dev", "eth0")
        _run(*inside, "link", "set", "eth0", "up")
        self._names |= dict.fromkeys((name, *others), address)
        lines = (f"{where} {name}\n" for name, where in self._names.items())
        self._file.write_text("".join(lines))
        host = Host(name, address, self._home / name)
        self._hosts.append(host)
        return host


class Host:
    """One host: an address, a folder that no other has, and what runs there."""

    def __init__(self, name: str, address: str, folder: Path) -> None:
        self.name, self.address, self.folder = name, address, folder
        self.log = folder.with_suffix(".log")
        self._running: list[subprocess.Popen[bytes]] = []
        folder.mkdir()

    def start(
        self,
        command: Sequence[object],
        environment: Mapping[str, str],
        account: Account | None = None,
        cwd: Path | None = None,
    ) -> "subprocess.Popen[bytes]":
        """Start a program here, its words in the host's log."""
        with self.log.open("ab") as words:
            process = subprocess.Popen(
                self._here(command, account),
                env=dict(environment), cwd=cwd or self.folder, stdout=words, stderr=words,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        self._running.append(process)
        return process

    def run(
        self,
        command: Sequence[object],
        environment: Mapping[str, str],
        account: Account | None = None,
        cwd: Path | None = None,
    ) -> str:
        """Run a program here to its end; return what it printed. Raise if it fails."""
        done = subprocess.run(
            self._here(command, account),
            env=dict(environment), cwd=cwd or self.folder, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def _here(self, command: Sequence[object], account: Account | None) -> list[str]:
        who = [f"--reuid={account.uid}", f"--regid={account.gid}"] if account else []
        become = ["setpriv", *who, "--clear-groups"] if account else []
        return ["ip", "netns", "exec", self.name, *AS_HOST, self.name, *become, *map(str, command)]

    def cut(self) -> None:
        """Pull its cable: what it sends, and what is sent to it, is lost."""
        _run("ip", "link", "set", self.name, "down")

    def join(self) -> None:
        """Put the cable back."""
        _run("ip", "link", "set", self.name, "up")

    def kill(self) -> None:
        """End all that runs here at once, as a host does that loses its power."""
        for process in self._running:
            if process.poll() is None:
                process.kill()
        for pid in _run("ip", "netns", "pids", self.name).split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        for process in self._running:
            process.wait()
        self._running.clear()


def missing_programs() -> list[str]:
    """Return which programs this machine lacks."""
    needed = ("ip", "unshare", "setpriv", "mount", "hostname", "haproxy")
    return [name for name in needed if not shutil.which(name)]


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
