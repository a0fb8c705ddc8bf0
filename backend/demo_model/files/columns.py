"""The content of a file, as describe_source reports it. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.demo_model.conversation import Conversation
from backend.demo_model.reading import read_rows

_KIND = re.compile(r"^\S+ \((\w+)\): ", re.MULTILINE)
_NUMBERS = ("DOUBLE", "DECIMAL", "BIGINT", "INTEGER", "HUGEINT", "FLOAT", "SMALLINT", "TINYINT")
_FRACTIONS = ("DOUBLE", "DECIMAL", "FLOAT")
_DATES = ("DATE", "TIMESTAMP")


@dataclass(frozen=True)
class FileColumn:
    """A column: its name as SQL must write it, and as people write it."""

    written: str
    type: str

    @property
    def name(self) -> str:
        """The name without quotes."""
        return self.written.strip('"').replace('""', '"')

    @property
    def is_number(self) -> bool:
        """Whether it can be summed."""
        return self.type.startswith(_NUMBERS)

    @property
    def has_fractions(self) -> bool:
        """Whether it is probably an amount rather than a count."""
        return self.type.startswith(_FRACTIONS)

    @property
    def is_date(self) -> bool:
        """Whether it can be split into months and years."""
        return self.type.startswith(_DATES)


@dataclass(frozen=True)
class FileContents:
    """The content of a file: its kind, and its tables with their columns."""

    kind: str
    tables: dict[str, Sequence[FileColumn]] = field(default_factory=dict)


def find_contents(conversation: Conversation, source: str) -> FileContents | None:
    """Return the content of a file; None until it has been looked up."""
    for result in conversation.results:
        call = result.call
        if call.name == "describe_source" and call.arguments.get("source") == source:
            kind = _KIND.search(result.content)
            tables: dict[str, list[FileColumn]] = {}
            for row in read_rows(result.content, "table", "column", "type"):
                column = FileColumn(_plain(row["column"]), row["type"])
                tables.setdefault(_plain(row["table"]), []).append(column)
            return FileContents(kind[1] if kind else "file", dict(tables))
    return None


def _plain(cell: str) -> str:
    return cell.replace("\\|", "|").replace("\\\\", "\\")
