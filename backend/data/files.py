"""Which files in DATA_DIR/sources are sources, and the names by which SQL can call them."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".parquet", ".xlsx", ".xlsm", ".xls")
MAX_FILES = 500
_MAX_NAME_CHARS = 60

# Names that SQL or the engine keeps for itself.
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
    """The files of `folder` and its subfolders that can be sources, in order of their paths."""
    if not folder.is_dir():
        return []
    found = sorted(path for path in folder.rglob("*") if _is_source(path.relative_to(folder)))
    return [path for path in found if path.is_file()][:MAX_FILES]


def name_files(paths: Iterable[Path], folder: Path, taken: Collection[str]) -> dict[str, Path]:
    """A name for each file from its path in `folder`: lower case, unique, free of quoting."""
    names: dict[str, Path] = {}
    for path in paths:
        relative = path.relative_to(folder).as_posix()
        stem = relative[: -len(_suffix(relative))]
        names[unique_name(stem, {*taken, *names})] = path
    return names


def unique_name(text: str, taken: Collection[str]) -> str:
    """`text` as a plain SQL name that is not taken: 'Sales 2026 (v2)' becomes sales_2026_v2."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:_MAX_NAME_CHARS] or "source"
    if name[0].isdigit() or name in _RESERVED:
        name = f"t_{name}"
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _is_source(relative: Path) -> bool:
    hidden = any(part.startswith((".", "~$")) for part in relative.parts)
    return not hidden and bool(_suffix(relative.name))


def _suffix(name: str) -> str:
    """The known suffix at the end of `name`, the longest first, or an empty string."""
    by_length = sorted(SUFFIXES, key=len, reverse=True)
    return next((suffix for suffix in by_length if name.lower().endswith(suffix)), "")
