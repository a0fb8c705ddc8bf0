"""Databases in SYSTEM_FOLDER whose DATA_DIR is gone: found and named, removed only on request.

Only root has clusters there. Beside each, a note says which DATA_DIR it belongs to.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from launch.private_files import read_private, write_private
from launch.processes.orphans import find_server
from launch.servers.cluster import LEFT_BEHIND, SYSTEM_FOLDER

NOTE = "data-dir"
REMOVE = "python -m launch remove-leftovers"


@dataclass(frozen=True)
class Leftover:
    """A cluster that no DATA_DIR uses any more, as far as can be seen."""

    folder: Path
    data_dir: str

    @property
    def is_running(self) -> bool:
        """Whether a server still runs on it; it was started on `cluster`, its name at that time."""
        started_on = self.folder.with_name("cluster")
        return find_server(self.folder / "postmaster.pid", mark=str(started_on)) is not None

    def __str__(self) -> str:
        """Return where it is, how large, and what it belonged to."""
        size = sum(path.lstat().st_size for path in self.folder.rglob("*")) / 1e6
        return f"{self.folder} ({size:,.0f} MB), of the DATA_DIR {self.data_dir}"

    def remove(self) -> None:
        """Remove it, and its folder if nothing else is in it."""
        shutil.rmtree(self.folder)
        parent = self.folder.parent
        if {path.name for path in parent.iterdir()} <= {NOTE}:
            shutil.rmtree(parent)


def note_data_dir(cluster: Path, data_dir: Path) -> None:
    """Note which DATA_DIR a cluster elsewhere belongs to, because its name is only a hash."""
    if not cluster.is_relative_to(data_dir):
        write_private(cluster.parent / NOTE, str(data_dir))


def find_leftovers(system_folder: Path = SYSTEM_FOLDER) -> Iterator[Leftover]:
    """Yield the clusters whose DATA_DIR is not there any more."""
    for note in sorted(system_folder.glob(f"*/{NOTE}")):
        data_dir = read_private(note)
        if data_dir is None:
            continue
        is_used = Path(data_dir, "postgres", "superuser.password").exists()
        for folder in sorted(note.parent.iterdir()):
            is_current = folder.name == "cluster" and not is_used
            if is_current or folder.name.startswith(LEFT_BEHIND):
                yield Leftover(folder, data_dir)


def leftover_text(leftovers: list[Leftover]) -> str:
    """Return what to say of databases whose DATA_DIR is gone."""
    return (
        "Databases of removed DATA_DIRs are still on this machine:\n"
        + "".join(f"    {leftover}\n" for leftover in leftovers)
        + f"If their DATA_DIRs were not moved or unmounted, remove them with `{REMOVE}`."
    )
