"""How large a folder, a file and a function may become."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("kit", "backend", "worker", "db", "ui", "launch", "deploy", "benchmarks")
MODULES = 20  # of a folder, beside its __init__.py
FILE_LINES = 500
FUNCTION_LINES = 60


def modules(part: str) -> list[Path]:
    return sorted((ROOT / part).rglob("*.py"))


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


@pytest.mark.parametrize("part", PRODUCT)
def test_a_folder_has_few_modules(part):
    folders: dict[Path, int] = {}
    for path in modules(part):
        folders[path.parent] = folders.get(path.parent, 0) + (path.name != "__init__.py")

    assert folders
    assert {folder for folder, count in folders.items() if count > MODULES} == set()


@pytest.mark.parametrize("part", PRODUCT)
def test_a_file_is_short(part):
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules(part)}

    assert {path: count for path, count in lines.items() if count > FILE_LINES} == {}


@pytest.mark.parametrize("part", PRODUCT)
def test_a_function_fits_on_a_screen(part):
    too_long = [
        (path, name, lines)
        for path in modules(part)
        for name, lines in functions(path)
        if lines > FUNCTION_LINES
    ]

    assert too_long == []
