"""The record that a running stack keeps in DATA_DIR, so that others find its addresses."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from launch.private_files import FolderLock, read_private, write_private


@dataclass(frozen=True)
class StackRecord:
    """The addresses of the parts of one DATA_DIR's stack."""

    ui_url: str
    api_url: str
    demo_model_url: str = ""


def stack_lock(data_dir: Path) -> FolderLock:
    """Return the lock that the stack of `data_dir` holds while it runs."""
    return FolderLock(data_dir / "stack.lock")


def write_record(data_dir: Path, record: StackRecord) -> None:
    """Write the record, so that others find the stack."""
    write_private(_record_file(data_dir), json.dumps(asdict(record)))


def clear_record(data_dir: Path) -> None:
    """Delete the record of a stack that has stopped."""
    _record_file(data_dir).unlink(missing_ok=True)


def read_record(data_dir: Path) -> StackRecord | None:
    """Return the record of the stack running in `data_dir`, or None; stale files are ignored."""
    text = read_private(_record_file(data_dir))
    if text is None or stack_lock(data_dir).is_free():
        return None
    try:
        return StackRecord(**json.loads(text))
    except (ValueError, TypeError):
        return None


def _record_file(data_dir: Path) -> Path:
    return data_dir / "stack.json"
