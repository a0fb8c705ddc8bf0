"""What a file is, by its bytes: names and words of others do not make it something else."""

import pytest

from backend.artifacts.media_types import PIXELS, UNKNOWN, sniff

SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@pytest.mark.parametrize(
    ("head", "name", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n....", "page.html", "image/png"),
        (b"RIFF....WEBPVP8 ", "", "image/webp"),
        (b"RIFF....AVI LIST", "x.webp", UNKNOWN),
        (b"PK\x03\x04....", "Plan.XLSX", SHEET),
        (b"PK\x03\x04....", "plan.png", "application/zip"),
        (b"\xd0\xcf\x11\xe0....", "old.xls", "application/vnd.ms-excel"),
        (b"PAR1....", "", "application/vnd.apache.parquet"),
        ("Umsätze;1\n".encode("cp1252"), "a.csv", "text/csv"),
        ("a;b\n".encode("utf-16"), "a.csv", "text/csv"),
        (b"name,amount\n", "picture.png", "text/plain"),
        (b"  <!-- x --><SVG onload='alert(1)'>", "picture.png", "image/svg+xml"),
        (b"\xef\xbb\xbf<!-- --><!DOCTYPE html><p>", "notes.md", "text/html"),
        (b"<script>alert(1)</script>", "a.csv", "text/html"),
        (b"\x00\x01\x02", "a.csv", UNKNOWN),
        (b"\x7fELF\x02\x01", "picture.png", UNKNOWN),
    ],
)
def test_bytes_say_what_a_file_is(head: bytes, name: str, media_type: str) -> None:
    assert sniff(head, name) == media_type


def test_a_drawing_that_is_a_page_is_no_picture() -> None:
    assert sniff(b"<svg/>") not in PIXELS
