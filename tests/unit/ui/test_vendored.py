"""Libraries for the browser: listed with version, licence and sum, and complete without a build."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

ASSETS = Path(__file__).parent.parent.parent.parent / "ui" / "assets"
VENDOR = ASSETS / "vendor"
ROW = re.compile(
    r"^\| `([^`]+)` \| (@?[\w./-]+) ([\d.]+), `[^`]+` \| ([^|]+) \| `(\w{64})` \|$", re.M
)
LISTED = {row[0]: row for row in ROW.findall((VENDOR / "README.md").read_text())}
DECLARED = "const|let|class|function|async|default"
IMPORT = re.compile(
    rf"""(?:^|[;}}\s])(?:import|export)\b(?!\s+(?:{DECLARED})\b)[^"'`;()]*?["']([^"'\s]+)["']"""
)
OWN = sorted(set(ASSETS.rglob("*.js")) - set(VENDOR.iterdir()))


def test_every_library_is_listed_with_its_licence():
    files = {path.name for path in VENDOR.iterdir()} - {"README.md"}

    assert set(LISTED) == files
    assert all(re.match("MIT|BSD-3-Clause|Apache-2.0", row[3]) for row in LISTED.values())


@pytest.mark.parametrize("name", sorted(LISTED))
def test_a_library_is_what_was_listed(name):
    assert sha256((VENDOR / name).read_bytes()).hexdigest() == LISTED[name][4]


@pytest.mark.parametrize("path", [*OWN, *sorted(VENDOR.glob("*.mjs"))], ids=lambda path: path.name)
def test_what_a_script_imports_is_a_file_of_ours(path):
    imported = IMPORT.findall(path.read_text())

    assert [name for name in imported if not (path.parent / name).is_file()] == []
