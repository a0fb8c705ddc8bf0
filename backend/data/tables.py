"""What is known of a table and its columns, whatever its source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ColumnInfo:
    """A column: its name, type, meaning if known, examples of its values, and its number format."""

    name: str
    type: str
    comment: str = ""
    values: str = ""
    format: str = ""


@dataclass(frozen=True)
class TableInfo:
    """A table or view; `rows` is None if counting them would cost too much.

    `path` is a database table's exact name with its schema. For a file, `understood` says how it
    was read, `warnings` what is missing or was skipped, `facts` the same as values.
    """

    name: str
    columns: tuple[ColumnInfo, ...]
    rows: int | None = None
    comment: str = ""
    path: tuple[str, ...] = ()
    understood: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exact_name(self) -> tuple[str, ...]:
        """The parts of the name as a query must write it."""
        if not self.path:
            return (self.name,)
        return self.path[-1:] if self.name == self.path[-1] else self.path
