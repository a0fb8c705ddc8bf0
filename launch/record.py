"""What a running stack leaves in DATA_DIR for others to find: its addresses, while it runs."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from launch.private_files import FolderLock, read_private, write_private


@dataclass(frozen=True)
class StackRecord:
    """Where the parts of the stack of one DATA_DIR listen."""

    ui_url: str
    api_url: str
    demo_model_url: str = ""


def stack_lock(data_dir: Path) -> FolderLock:
    """Return the lock that the one stack of `data_dir` holds as long as it runs."""
    return FolderLock(data_dir / "stack.lock")


def write_record(data_dir: Path, record: StackRecord) -> None:
    """Let others find the stack."""
    write_private(_record_file(data_dir), json.dumps(asdict(record)))


def clear_record(data_dir: Path) -> None:
    """The stack is gone."""
    _record_file(data_dir).unlink(missing_ok=True)


def read_record(data_dir: Path) -> StackRecord | None:
    """The record of the stack that runs in `data_dir`; None if none does, whatever files say."""
    text = read_private(_record_file(data_dir))
    if text is None or stack_lock(data_dir).is_free():
        return None
    try:
        return StackRecord(**json.loads(text))
    except (ValueError, TypeError):
        return None


def _record_file(data_dir: Path) -> Path:
    return data_dir / "stack.json"
