"""The account for a server that refuses to run as root: an existing one without privileges."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from launch.errors import LaunchError

UNPRIVILEGED = "nobody"


@dataclass(frozen=True)
class Account:
    """An operating system user under which a child process runs."""

    uid: int
    gid: int
    name: str

    def may_enter(self, folder: Path) -> bool:
        """Return whether this user can reach `folder`, considering modes, ACLs and mounts."""
        return self.succeeds("test", "-x", str(folder))

    def succeeds(self, *command: str) -> bool:
        """Return whether `command`, run as this user, ends with status 0."""
        try:
            done = subprocess.run(  # noqa: S603  (the callers name the program)
                command,
                user=self.uid,
                group=self.gid,
                extra_groups=[],
                cwd="/",
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        except OSError:
            return False
        return done.returncode == 0


def account_for(cluster: Path) -> Account | None:
    """Return the user to run as: for root the owner of `cluster` or `nobody`, otherwise None."""
    if os.geteuid() != 0:
        return None
    if cluster.exists() and cluster.stat().st_uid != 0:
        return _account(cluster.stat().st_uid)
    try:
        return _account(pwd.getpwnam(UNPRIVILEGED).pw_uid)
    except KeyError:
        raise LaunchError(
            "PostgreSQL refuses to run as root, and the user 'nobody' does not exist. "
            "Start as another user, or set DATABASE_URL."
        ) from None


def _account(uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return Account(uid, uid, str(uid))
    return Account(uid, entry.pw_gid, entry.pw_name)
