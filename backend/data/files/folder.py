"""Which files in DATA_DIR/sources are sources, and their names in SQL."""

import re
import shutil
import unicodedata
from collections.abc import Collection
from pathlib import Path

from backend.data.errors import SourceUnusable
from backend.data.files.formats import WORKBOOKS

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".parquet", *WORKBOOKS)
MAX_FILES = 500
OUTSIDE = (
    "It is a link to a file outside of `sources/`, and such links are not followed. Put the file "
    "itself there, or mount its folder."
)
_BLOCK = 2**20
_MAX_NAME_CHARS = 60

# Words reserved by SQL or the engine.
_RESERVED_WORDS = """
    all analyze and any array as asc both case cast check collate column constraint create
    default desc describe distinct do else end except false fetch for foreign from grant group
    having in information_schema initially intersect into is join lambda lateral leading left
    like limit main memory natural not null offset on only or order outer pg_catalog pivot
    placing primary qualify references returning right select show some summarize symmetric
    system table temp then to trailing true union unique unpivot using values variadic when
    where window with
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


def find_files(folder: Path) -> list[Path]:
    """Return the files of `folder` and its subfolders that can be sources, sorted by path."""
    if not folder.is_dir():
        return []
    found = sorted(path for path in folder.rglob("*") if _is_source(path.relative_to(folder)))
    return [path for path in found if path.is_file()]


def lies_within(folder: Path, path: Path) -> bool:
    """Return whether the file is in the folder, also after its links have been followed."""
    return path.resolve().is_relative_to(folder.resolve())


def copy_from(folder: Path, path: Path, copy: Path) -> None:
    """Copy a file of the folder. Raise SourceUnusable if what is opened lies elsewhere.

    It is opened first and checked then: between a check and opening, a link could be changed.
    """
    with path.open("rb") as file, copy.open("wb") as out:
        opened = Path(f"/proc/self/fd/{file.fileno()}")
        if not lies_within(folder, opened if opened.exists() else path):
            raise SourceUnusable(OUTSIDE)
        shutil.copyfileobj(file, out, _BLOCK)


def stem_of(relative: str) -> str:
    """Return a file's path in the folder, without its suffix."""
    return relative[: -len(_suffix(relative))]


def unique_name(text: str, taken: Collection[str]) -> str:
    """Return `text` as an unused SQL name: 'Umsätze 2026 (v2)' becomes umsätze_2026_v2.

    Letters of all scripts are kept: neither DuckDB nor the parser needs quotes around them.
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    kept = "".join(char if _may_be_in_name(char) else "_" for char in plain)
    name = re.sub("_+", "_", kept).strip("_")[:_MAX_NAME_CHARS].rstrip("_") or "source"
    if not name[0].isalpha() or name in _RESERVED:
        name = f"t_{name}"
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _may_be_in_name(char: str) -> bool:
    """Return letters, digits, and the marks that belong to letters in some scripts."""
    return char.isalnum() or unicodedata.category(char) in ("Mn", "Mc")


def _is_source(relative: Path) -> bool:
    hidden = any(part.startswith((".", "~$")) for part in relative.parts)
    return not hidden and bool(_suffix(relative.name))


def _suffix(name: str) -> str:
    """Return the longest known suffix of `name`, or an empty string."""
    by_length = sorted(SUFFIXES, key=len, reverse=True)
    return next((suffix for suffix in by_length if name.lower().endswith(suffix)), "")
