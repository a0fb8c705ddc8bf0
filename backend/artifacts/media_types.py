"""The media type of a file by its first bytes; declared types are not trusted. Pure."""

from collections.abc import Mapping

HEAD_BYTES = 4_096
UNKNOWN = "application/octet-stream"
PIXELS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})  # pages may show these
_ZIP, _OLE = "application/zip", "application/x-ole-storage"
_BEGINNINGS = {
    b"\x89PNG\r\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": UNKNOWN,
    b"%PDF-": "application/pdf",
    b"PK\x03\x04": _ZIP,
    b"OggS": "audio/ogg",
    b"ID3": "audio/mpeg",
}
_OF_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_FURTHER = {
    b"PAR1": "application/vnd.apache.parquet",
    b"\xd0\xcf\x11\xe0": _OLE,
    b"\x1f\x8b": "application/gzip",
    b"fLaC": "audio/flac",
}
_OFFICE = "application/vnd.openxmlformats-officedocument"
# A file name only chooses among the types that such bytes can have.
_BY_NAME: Mapping[str, Mapping[str, str]] = {
    _ZIP: {
        "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
        "docx": f"{_OFFICE}.wordprocessingml.document",
        "pptx": f"{_OFFICE}.presentationml.presentation",
    },
    _OLE: {"xls": "application/vnd.ms-excel", "doc": "application/msword"},
    "text/plain": {
        "csv": "text/csv",
        "tsv": "text/tab-separated-values",
        "md": "text/markdown",
        "json": "application/json",
    },
}
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\f\x1b")
_PAGES = (b"<!doctype html", b"<html", b"<head", b"<body", b"<script", b"<iframe")


def type_of_beginning(head: bytes) -> str | None:
    """Return the media type of a file that begins so; None if it is unknown."""
    of_riff = _OF_RIFF.get(head[8:12]) if head.startswith(b"RIFF") else None
    return of_riff or _look_up(_BEGINNINGS, head)


def sniff(head: bytes, name: str = "") -> str:
    """Return the media type of a file by its first bytes, `HEAD_BYTES` at most."""
    found = type_of_beginning(head) or _look_up(_FURTHER, head) or _text_type(head)
    ending = name.rpartition(".")[2].lower()
    return _BY_NAME.get(found, {}).get(ending, found)


def _look_up(beginnings: Mapping[bytes, str], head: bytes) -> str | None:
    return next((kind for begins, kind in beginnings.items() if head.startswith(begins)), None)


def _text_type(head: bytes) -> str:
    """Return the type of a text, pages and drawings that run scripts first; else `UNKNOWN`."""
    if not head.startswith(_BOMS[1:]) and not _CONTROLS.isdisjoint(head):
        return UNKNOWN
    plain = head.replace(b"\0", b"").lower()
    for bom in _BOMS:
        plain = plain.removeprefix(bom)
    plain = plain.lstrip()
    if plain.startswith(b"<") and b"<svg" in plain:
        return "image/svg+xml"
    if plain.startswith(b"<") and any(begins in plain for begins in _PAGES):
        return "text/html"
    return "application/xml" if plain.startswith(b"<?xml") else "text/plain"
