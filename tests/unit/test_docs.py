"""The documentation names files that exist."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/adr/*.md")])
QUOTED = re.compile(r"`([\w./-]+)`")
FILE = re.compile(r".*\w\.(py|js|css|md|toml|sh)")


def all_files() -> list[str]:
    """The repository's files; what is hidden is installed, or made by running it."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
        found += [(Path(folder) / name).relative_to(ROOT).as_posix() for name in names]
    return found


def blocks(page: Path) -> list[str]:
    """Paragraphs and rows of tables: within one, files are named in the folder named before."""
    return re.split(r"\n\s*\n|\n(?=\|)", page.read_text(encoding="utf-8"))


def folders_in(block: str) -> list[Path]:
    named = [ROOT / path for path in QUOTED.findall(block)]
    return [path if path.is_dir() else path.parent for path in named if path.exists()]


def unresolved(block: str, files: list[str]) -> list[str]:
    def is_found(path: str) -> bool:
        if (ROOT / path).is_file() or sum(file.endswith(f"/{path}") for file in files) == 1:
            return True
        return any((folder / path).is_file() for folder in folders_in(block))

    return [path for path in QUOTED.findall(block) if FILE.fullmatch(path) and not is_found(path)]


FILES = all_files()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_named_on_a_page_exists(page):
    assert [path for block in blocks(page) for path in unresolved(block, FILES)] == []


def test_a_file_that_moved_or_could_be_several_is_noticed():
    assert unresolved("see `agents/middleware/view.py`", FILES) == ["agents/middleware/view.py"]
    assert unresolved("see `service.py`", FILES) == ["service.py"]
    assert unresolved("`backend/files`: `service.py`", FILES) == []
    assert unresolved("see `tools/mcp/names.py` and `docs/operations.md`", FILES) == []


TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def absent_tests(text: str) -> list[str]:
    def is_there(path: str, name: str) -> bool:
        file = ROOT / path
        return file.is_file() and re.search(
            rf"^def {name}\(", file.read_text(encoding="utf-8"), re.MULTILINE
        )

    return [f"{path}::{name}" for path, name in TEST.findall(text) if not is_there(path, name)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_a_page_refers_to_exists(page):
    assert absent_tests(page.read_text(encoding="utf-8")) == []


def test_a_test_that_was_renamed_is_noticed():
    here = "tests/unit/test_docs.py"

    assert absent_tests(f"`{here}::test_that_never_was`") == [f"{here}::test_that_never_was"]
    assert absent_tests(f"`{here}::test_a_test_that_was_renamed_is_noticed`") == []


def rows_of(text: str) -> list[list[str]]:
    """The rows of a page's tables, without their headings."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if row[0] != "described"]


def unexplained(rows: list[list[str]]) -> list[str]:
    """Rows that name neither a test nor why something is done otherwise, or have a cell too few."""
    return [
        row[0]
        for row in rows
        if len(row) != 3 or not (TEST.search(row[2]) or "otherwise" in row[2])
    ]


def test_each_row_of_the_specification_is_shown_by_a_test_or_explained():
    text = (ROOT / "docs/specification.md").read_text(encoding="utf-8")
    tables = text.split("\n## ")[1:]

    assert [len(rows_of(table)) > 10 for table in tables] == [True] * 5
    assert unexplained(rows_of(text)) == []
    assert unexplained(rows_of("| a | b | c |")) == ["a"]
