"""Measures how the polluted text files of the Pollock benchmark (VLDB 2023) are read.

`python -m benchmarks.pollock FOLDER…` takes folders with `csv` and `clean`, as the benchmark's
repository has them (`polluted_files`, `survey_sample`), and `pollock_weights.json` if it is beside
them. It prints Pollock's measures and scores, and each file that is silently wrong: some cell is
not what its clean version says, and nothing is said of the source.
"""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from backend.data.corrections import NONE, Corrections
from backend.data.errors import DataError
from backend.data.reading.cells import MISSING
from backend.data.reading.delimited import read_delimited
from backend.data.reading.table import SURPLUS
from backend.data.reading.understood import Understood
from backend.data.sql.quoting import identifier

_HOW = ("precision", "recall", "f1")
MEASURES = ("success", *(f"{what}_{how}" for what in ("header", "record", "cell") for how in _HOW))
_UNNAMED = re.compile(r"column_[0-9]+")
_REPEATED = re.compile(r"_[0-9]+$")
_DAY = re.compile(r"([0-9]{1,4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,4})(?:[ T].*)?")

Rows = list[list[str]]


@dataclass(frozen=True)
class Loaded:
    """A table as it was read: its names, none without a header, its values, and its texts."""

    names: list[str]
    values: list[list[Any]]
    texts: Rows
    understood: Understood


@dataclass
class Verdict:
    """What came of one file: the measures, and the first cell that is wrong."""

    name: str
    measures: dict[str, float] = field(default_factory=lambda: dict.fromkeys(MEASURES, 0.0))
    wrong: str = ""
    is_said: bool = True

    @property
    def score(self) -> float:
        """Pollock's score of the file, at most ten."""
        return sum(self.measures.values())


def judge(polluted: Path, clean: Path) -> Verdict:
    """Return what came of a file, by its clean version."""
    verdict = Verdict(polluted.name)
    source = _rows_of(clean)
    try:
        loaded = load(polluted)
    except DataError as error:
        loaded = Loaded([], [], [], Understood(warnings=[error.detail]))
    if not source:
        verdict.measures = dict.fromkeys(MEASURES, 1.0)
        return verdict
    names = [loaded.names] if loaded.names else []
    verdict.measures = _measures(source, [*names, *loaded.texts])
    verdict.wrong = _first_wrong(source, [*names, *loaded.values])
    verdict.is_said = bool(loaded.understood.warnings)
    return verdict


def load(path: Path) -> Loaded:
    """Read a file as its table is read, and once more with all columns as text."""
    values, names, understood = _read(path, NONE)
    as_text = Corrections(types=dict.fromkeys((n for n in names if n != SURPLUS), "text"))
    texts, _, _ = _read(path, as_text)
    has_header = bool(understood.facts["header"])
    return Loaded(
        [_plain_name(name) for name in names if name != SURPLUS] if has_header else [],
        values,
        [["" if cell is None else str(cell) for cell in row] for row in texts],
        understood,
    )


def _read(path: Path, corrections: Corrections) -> tuple[list[list[Any]], list[str], Understood]:
    with TemporaryDirectory() as folder, duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        copy = Path(folder) / "copy.csv"
        copy.write_bytes(path.read_bytes())
        understood = read_delimited(connection, "read", copy, corrections)
        relation = connection.sql(f"FROM {identifier('read')}")
        return [list(row) for row in relation.fetchall()], relation.columns, understood


def _plain_name(name: str) -> str:
    return "" if _UNNAMED.fullmatch(name) else name


def _rows_of(clean: Path) -> Rows:
    csv.field_size_limit(10_000_000)
    with open(clean, encoding="utf-8-sig", newline="") as file:
        return [row for row in csv.reader(file) if any(row)]


def _measures(source: Rows, loaded: Rows) -> dict[str, float]:
    source, loaded = (
        [[_normal(cell) for cell in row] for row in rows] for rows in (source, loaded)
    )
    header = _overlap(source[0], loaded[0] if loaded else [])
    records = _overlap(*(["".join(row) for row in rows[1:]] for rows in (source, loaded)))
    cells = _overlap(*([cell for row in rows for cell in row] for rows in (source, loaded)))
    return dict(zip(MEASURES, (1.0, *header, *records, *cells), strict=True))


def _overlap(source: Sequence[str], loaded: Sequence[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of multisets, as Pollock defines them."""
    if not source:
        return 1.0, 1.0, 1.0
    common = (Counter(source) & Counter(loaded)).total()
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(source), common / len(loaded)
    return precision, recall, 2 * precision * recall / (precision + recall)


def _normal(cell: str) -> str:
    number = _number(cell)
    return cell.lower().strip() if number is None else str(number)


def _first_wrong(source: Rows, loaded: Sequence[Sequence[Any]]) -> str:
    """Return the first cell that differs, in words; empty if none does."""
    if len(source) != len(loaded):
        return f"{len(loaded):,} rows instead of {len(source):,}"
    for number, (right, found) in enumerate(zip(source, loaded, strict=True)):
        width = max(len(right), len(found))
        cells = [*found, *[None] * (width - len(found))]
        texts = [*right, *[""] * (width - len(right))]
        for place, (text, value) in enumerate(zip(texts, cells, strict=True), 1):
            same = _is_name(text, value) if number == 0 else is_same(text, value)
            if not same:
                return f"row {number}, cell {place}: {value!r} instead of {text!r}"
    return ""


def _is_name(text: str, name: Any) -> bool:
    plain = " ".join(text.split())[:120].strip()
    return is_same(text, name) or plain in (str(name), _REPEATED.sub("", str(name)))


def is_same(text: str, value: Any) -> bool:
    """Return whether a value is what the text of a cell means."""
    plain = text.strip()
    if value is None:
        return plain == "" or plain.lower() in MISSING or not re.search("[1-9A-Za-z]", plain)
    if isinstance(value, bool):
        return plain.lower() == str(value).lower()
    if isinstance(value, int | float):
        number = _number(plain)
        return number is not None and abs(number - value) <= 1e-9 * max(1.0, abs(value))
    if isinstance(value, datetime | date):
        return _is_day(plain, value)
    if isinstance(value, time):
        return plain.replace(",", ".").lstrip("0").startswith(value.isoformat()[:5].lstrip("0"))
    return " ".join(str(value).split()) == " ".join(text.split())


def _number(text: str) -> float | None:
    bare = re.sub(r"[$€£%\s'\u00a0\u2019]", "", text)
    if re.fullmatch(r"\(.*\)", bare):
        bare = f"-{bare[1:-1]}"
    for candidate in (bare, bare.replace(",", ""), bare.replace(".", "").replace(",", ".")):
        if re.fullmatch(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", candidate):
            return float(candidate)
    return None


def _is_day(text: str, value: date) -> bool:
    parts = _DAY.fullmatch(text)
    if parts is None:
        return re.search(rf"{value.year % 100:02}\b", text) is not None and str(value.day) in text
    numbers = sorted(int(part) % 100 for part in parts.groups())
    return numbers == sorted((value.year % 100, value.month, value.day))


def main() -> None:
    """Judge the files of each folder that is named; fail if one is silently wrong."""
    silent = 0
    for folder in map(Path, sys.argv[1:]):
        pairs = [
            (path, folder / "clean" / path.name) for path in sorted((folder / "csv").iterdir())
        ]
        verdicts = [judge(path, clean) for path, clean in pairs if clean.is_file()]
        silent += _print(folder, verdicts)
    sys.exit(1 if silent else 0)


def _print(folder: Path, verdicts: Sequence[Verdict]) -> int:
    """Print what came of a folder; return how many files are silently wrong."""
    print(f"{folder}: {len(verdicts):,} files")
    for measure in MEASURES:
        print(f"  {measure:18} {fmean(v.measures[measure] for v in verdicts):.4f}")
    print(f"  score, simple      {fmean(v.score for v in verdicts):.3f}")
    file = folder.parent / "pollock_weights.json"
    weights = json.loads(file.read_text()) if file.is_file() else {}
    if total := sum(weights.get(v.name, 0) for v in verdicts):
        weighted = sum(weights.get(v.name, 0) * v.score for v in verdicts) / total
        print(f"  score, weighted    {weighted:.3f}")
    wrong = [verdict for verdict in verdicts if verdict.wrong]
    silent = [verdict for verdict in wrong if not verdict.is_said]
    print(f"  not as the clean version, and said: {len(wrong) - len(silent):,}")
    print(f"  silently wrong: {len(silent):,}")
    for verdict in silent:
        print(f"    {verdict.name}: {verdict.wrong}")
    return len(silent)


if __name__ == "__main__":
    main()
