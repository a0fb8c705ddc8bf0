"""Workbooks that cannot be read: the reason is the true one."""

import struct
import zipfile

import pytest

from backend.data.errors import SourceUnusable
from backend.data.files.formats import Format, find_format
from backend.data.files.readers import fill_snapshot
from backend.data.files.uploads import Upload, fill_upload

FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
ROOT, STREAM = 5, 2


def entry(name, kind, child=FREE, right=FREE):
    """An entry of the directory of a compound file."""
    text = name.encode("utf-16-le") + b"\0\0"
    links = struct.pack("<HBBIII", len(text), kind, 1, FREE, right, child)
    return text.ljust(64, b"\0") + links + b"\0" * 36 + struct.pack("<IQ", END, 0)


def compound(*names):
    """A compound file with these streams."""
    head = bytes.fromhex("D0CF11E0A1B11AE1") + b"\0" * 16
    head += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + b"\0" * 6
    head += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, END, 0, END, 0)
    sectors = struct.pack("<128I", FAT, END, *[FREE] * 126)
    entries = [
        entry("Root Entry", ROOT, child=1),
        entry(names[0], STREAM, right=2),
        entry(names[1], STREAM),
    ]
    places = struct.pack("<109I", 0, *[FREE] * 108)
    return head + places + sectors + b"".join(entries).ljust(512, b"\0")


@pytest.fixture
def locked(tmp_path):
    place = tmp_path / "budget.xlsx"
    place.write_bytes(compound("EncryptedPackage", "EncryptionInfo"))
    return place


def test_a_password_is_the_reason_and_no_damage(tmp_path, locked):
    upload = Upload("id", locked, locked.name, Format.OLD_WORKBOOK)

    with pytest.raises(SourceUnusable, match="protected with a password"):
        fill_upload(tmp_path / "snapshot.duckdb", "budget", upload)


def test_a_password_is_told_of_a_file_in_the_folder_of_sources_too(tmp_path, locked):
    with pytest.raises(SourceUnusable, match="protected with a password"):
        fill_snapshot(tmp_path / "snapshot.duckdb", "budget", locked, tmp_path)


@pytest.mark.parametrize(
    ("part", "said"),
    [("WordDocument", "text of a word processor"), ("PowerPoint Document", "a presentation")],
)
def test_another_old_office_file_is_told_as_such(tmp_path, part, said):
    place = tmp_path / "letter.doc"
    place.write_bytes(compound(part, "Data"))

    with pytest.raises(SourceUnusable, match=said):
        fill_upload(
            tmp_path / "snapshot.duckdb",
            "letter",
            Upload("id", place, place.name, Format.OLD_WORKBOOK),
        )


def test_rich_text_is_refused_as_such():
    assert find_format(rb"{\rtf1\ansi Rent}", "a.rtf") == "a text of a word processor"


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"ID;PWXL;N;E\r\nP;PGeneral\r\n", "a workbook in the SYLK format"),
        (b"ID;PCALCOOO32\nB;Y2;X2\n", "a workbook in the SYLK format"),
        (b'TABLE\r\n0,1\r\n"EXCEL"\r\n', "a workbook in the DIF format"),
        (b"ID;Price\r\n1;2,50\r\n", Format.TEXT),
        (b"TABLE\n0.10\n", Format.TEXT),
    ],
)
def test_old_text_formats_of_spreadsheets_are_refused_as_such(head, found):
    assert find_format(head, "rent.csv") == found


def test_a_binary_workbook_is_told_as_such(tmp_path):
    place = tmp_path / "budget.xlsb"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("xl/workbook.bin", b"\x83\x01\0")
    upload = Upload("id", place, place.name, Format.WORKBOOK)

    with pytest.raises(SourceUnusable, match="in the binary format"):
        fill_upload(tmp_path / "snapshot.duckdb", "budget", upload)
