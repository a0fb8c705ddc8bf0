"""The wording of the page Data: sizes, kinds, who can use a file. Pure."""

from backend.schemas.data.files import FileKind, FileSummary
from backend.schemas.data.sources import SourceSummary
from ui.shared.formats import reader

KINDS = {
    FileKind.TABLE: "Table",
    FileKind.DOCUMENT: "Document",
    "finance": "Bundled ledger",
    "database": "Database",
    "file": "File of the service",
}
TYPES = {
    "text": "Text",
    "integer": "Whole number",
    "number": "Number",
    "boolean": "True or false",
    "date": "Date, detected from its cells",
    "date_dmy": "Date: day, month, year",
    "date_mdy": "Date: month, day, year",
    "date_ymd": "Date: year, month, day",
    "timestamp": "Date with time",
}
SEPARATORS = {
    ";": "Semicolon ;",
    ",": "Comma ,",
    "\t": "Tab",
    "|": "Pipe |",
    "": "None: one column",
}
QUOTES = {'"': 'Double "', "'": "Single '", "": "None: they are part of the text"}
ESCAPES = {"": "Doubled", "\\": "After a backslash, or doubled"}
DECIMALS = {",": "Comma: 1.234,56", ".": "Point: 1,234.56"}
AS_SHOWN = "Detected from the file"


_ENGINE_TYPES = {
    "VARCHAR": "Text",
    "BIGINT": "Whole number",
    "INTEGER": "Whole number",
    "HUGEINT": "Whole number",
    "SMALLINT": "Whole number",
    "TINYINT": "Whole number",
    "DOUBLE": "Number",
    "FLOAT": "Number",
    "DECIMAL": "Number",
    "BOOLEAN": "True or false",
    "DATE": "Date",
    "TIMESTAMP": "Date with time",
    "TIME": "Time",
}


def type_words(engine_type: str) -> str:
    """Return a column's type in words, or the engine's name for it if there are none."""
    return _ENGINE_TYPES.get(engine_type.partition("(")[0], engine_type)


def size(count: int) -> str:
    """12 bytes, 3.4 KB, 120 MB."""
    if count < 1_000:
        return f"{count} byte{'' if count == 1 else 's'}"
    for unit, factor in (("KB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if count < factor * 1_000 or unit == "GB":
            value = count / factor
            return f"{reader.number(value, 1 if value < 10 else 0)} {unit}"
    return str(count)


def about_file(file: FileSummary) -> str:
    """Return a file's kind, size and amount in a line."""
    parts = [KINDS[file.kind], size(file.size)]
    if file.tables > 1:
        parts.append(f"{file.tables} tables")
    if file.rows is not None:
        unit = "page" if file.kind is FileKind.DOCUMENT else "row"
        parts.append(reader.counted(file.rows, unit))
    elif not file.is_read:
        parts.append("still being read")
    parts.append(f"uploaded {reader.moment(file.created_at)}")
    return " · ".join(parts)


def about_source(source: SourceSummary) -> str:
    """Return a source's kind, tables and size in a line."""
    parts = [KINDS[source.kind], f"{source.tables} table{'' if source.tables == 1 else 's'}"]
    if source.size is not None:
        parts.append(size(source.size))
    return " · ".join(parts)


def who(file: FileSummary) -> str:
    """Return who can use a file."""
    return "One of your sessions" if file.session_id else "All your sessions"
