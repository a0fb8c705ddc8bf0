"""Uploaded files that cannot be read: what is said of them, in lists and to a person."""

import pytest

from tests.stack import Stack


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [("report.pdf", b"%PDF-1.7\nno page", "document"), ("a.parquet", b"PAR1no rows", "table")],
)
def test_a_file_that_cannot_be_opened_keeps_its_kind(
    stack: Stack, name: str, content: bytes, kind: str
) -> None:
    made = stack.client.post("/files", files={"file": (name, content)}).json()

    assert "damaged" in made["problem"]
    assert (made["kind"], made["content"]) == (kind, [])
