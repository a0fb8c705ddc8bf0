"""What a backup holds, written beside it as `manifest.json`."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError

from backend.errors.base import AppError

NAME = "manifest.json"
DATABASE = "database.dump"


class NotABackup(AppError):
    """This folder holds no backup of Colloquy, or an incomplete one."""


class Content(BaseModel):
    """A file of the backup: its path there, its size in bytes, and its SHA-256."""

    path: str
    size: int
    sha256: str


class Manifest(BaseModel):
    """One backup. `missing`: what the database names and the store did not have."""

    version: str
    schema_revision: str
    installation: str
    made_at: str
    database: Content
    files: list[Content]
    artifacts: list[Content]
    others: list[Content]
    missing: list[str]

    def write(self, folder: Path) -> None:
        """Write it, last of all: a folder without it is no backup."""
        (folder / NAME).write_text(self.model_dump_json(indent=1), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the one of a folder. Raise NotABackup."""
        try:
            return cls.model_validate_json((folder / NAME).read_text(encoding="utf-8"))
        except (OSError, ValidationError):
            raise NotABackup(f"{folder} holds no complete backup: there is no {NAME}.") from None

    @property
    def contents(self) -> list[Content]:
        """All files of the backup but the database's."""
        return [*self.files, *self.artifacts, *self.others]
