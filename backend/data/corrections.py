"""A person's corrections of how a file was read; corrected settings are not guessed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

# The names that people know; Python's other codecs are not encodings of files.
ENCODINGS: Mapping[str, str] = MappingProxyType(
    {
        "UTF-8": "utf-8-sig",
        "UTF-16": "utf-16",
        "UTF-16-LE": "utf-16-le",
        "UTF-16-BE": "utf-16-be",
        "UTF-32": "utf-32",
        "Windows-1252": "cp1252",
        "Windows-1250": "cp1250",
        "Windows-1251": "cp1251",
        "Windows-1253": "cp1253",
        "Windows-1254": "cp1254",
        "ISO-8859-1": "iso-8859-1",
        "ISO-8859-2": "iso-8859-2",
        "ISO-8859-15": "iso-8859-15",
        "Mac Roman": "mac_roman",
        "DOS 437": "cp437",
        "DOS 850": "cp850",
        "Shift JIS": "cp932",
        "GB 18030": "gb18030",
        "Big5": "big5",
        "Korean (949)": "cp949",
    }
)
NUMBER_TYPES = frozenset({"integer", "number"})  # read with a decimal mark


@dataclass(frozen=True)
class Corrections:
    """The corrections of a file; None or empty: as detected from the file.

    `quote` is empty if quotes are part of the text, `escape` if a backslash escapes none;
    `header_row` is a line of the file, 0 for none; `types` are by column name.
    """

    kind: str | None = None
    encoding: str | None = None
    separator: str | None = None
    quote: str | None = None
    escape: str | None = None
    decimal: str | None = None
    header_row: int | None = None
    sheet: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """A digest of the corrections."""
        text = json.dumps({**asdict(self), "types": dict(self.types)}, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Corrections":
        """Return stored corrections; keys of other versions are ignored."""
        known = cls.__dataclass_fields__
        return cls(**{name: value for name, value in stored.items() if name in known})


NONE = Corrections()
