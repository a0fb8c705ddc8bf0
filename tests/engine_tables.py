# ruff: noqa: E501 - each column list stays on its line
"""Ten small tables with awkward values, for four engines.

Each is written once, in SQL that all engines read but for what `_TYPES` and `_BYTES` name.
"""

from collections.abc import Iterator

_TYPES = {
    "postgres": {"BLOB": "bytea", "DOUBLE": "double precision"},
    "mysql": {"TEXT": "varchar(200)", "TIMESTAMP": "datetime(6)", "TIME": "time(6)"},
    "sqlite": {},
    "duckdb": {},
}
_BYTES = {
    "duckdb": "unhex('{}')",
    "postgres": "decode('{}', 'hex')",
    "mysql": "x'{}'",
    "sqlite": "x'{}'",
}
_SALES = [
    f"{year}, {quarter}, '{region}', {n * 37 % 1000}.{n * 13 % 100:02d}, {n % 7}"
    for n, (year, quarter, region) in enumerate(
        (year, quarter, region)
        for year in (2024, 2025, 2026)
        for quarter in (1, 2, 3, 4)
        for region in ("North", "South", "West")
    )
]
TABLES = {
    "orders": (
        {"id": "INTEGER", "customer": "INTEGER", "day": "DATE", "amount": "DECIMAL(12,2)", "note": "TEXT"},
        ["1, 10, '2025-01-31', 100.10, 'first'", "2, 10, '2025-02-28', -20.00, NULL",
         "3, 20, '2025-02-28', 0.00, ''", "4, 30, '2026-12-31', 99999999.99, 'a|b'",
         "5, NULL, NULL, NULL, 'no customer'"],
    ),
    "customers": (
        {"id": "INTEGER", "name": "TEXT", "country": "TEXT"},
        ["10, 'Müller & Söhne', 'DE'", "20, 'O''Brien', 'IE'", "30, '株式会社', 'JP'",
         "40, ' spaced ', NULL"],
    ),
    "whole": (
        {"id": "INTEGER", "small": "SMALLINT", "big": "BIGINT", "huge": "DECIMAL(38,0)"},
        ["1, 32767, 9223372036854775807, 99999999999999999999999999999999999999",
         "2, -32768, -9223372036854775807, -99999999999999999999999999999999999999",
         "3, 0, 9007199254740992, 9007199254740993", "4, 1, 9007199254740993, 1",
         "5, NULL, NULL, NULL"],
    ),
    "decimals": (
        {"id": "INTEGER", "money": "DECIMAL(18,4)", "tiny": "DECIMAL(30,20)", "rate": "DECIMAL(5,5)"},
        ["1, 1234567.8900, 0.00000000000000000001, 0.12345", "2, -0.0001, 1.10000000000000000000, 0",
         "3, 99999999999999.9999, 1234567890.12345678901234567890, 0.99999", "4, NULL, NULL, NULL"],
    ),
    "floats": (
        {"id": "INTEGER", "value": "DOUBLE", "weight": "DOUBLE"},
        ["1, 0.1, 1e300", "2, -1e-300, 0.30000000000000004", "3, 3.0, 1e16", "4, NULL, 2.5",
         "5, 123456789.123456789, -0.5"],
    ),
    "moments": (
        {"id": "INTEGER", "moment": "TIMESTAMP", "day": "DATE", "clock": "TIME"},
        ["1, '2025-01-31 10:20:30', '2025-01-31', '10:20:30'",
         "2, '2024-02-29 23:59:59.123456', '2024-02-29', '23:59:59.123456'",
         "3, '9999-12-31 23:59:59.999999', '9999-12-31', '00:00:00'",
         "4, '1000-01-01 00:00:00', '1000-01-01', '12:00:00.5'", "5, NULL, NULL, NULL"],
    ),
    "words": (
        {"id": "INTEGER", "word": "TEXT", "code": "TEXT"},
        ["1, 'Straße', '007'", "2, 'naïve', '12E3'", "3, '', ' 7'", "4, NULL, '1,5'",
         "5, 'tab\there', '100%'", "6, 'emoji 🙂', '_x'", "7, 'line\nbreak', 'a''b'"],
    ),
    "flags": (
        {"id": "INTEGER", "yes": "BOOLEAN", "content": "BLOB"},
        ["1, TRUE, <00ff41>", "2, FALSE, <>", "3, NULL, NULL", "4, TRUE, <c3a9>"],
    ),
    "staff": (
        {"id": "INTEGER", "boss": "INTEGER", "name": "TEXT", "salary": "DECIMAL(10,2)"},
        ["1, NULL, 'Ada', 9000.00", "2, 1, 'Bob', 5000.50", "3, 1, 'Cyd', 5000.50",
         "4, 2, 'Dan', 3000.00", "5, 4, 'Eve', NULL"],
    ),
    "sales": (
        {"year": "INTEGER", "quarter": "INTEGER", "region": "TEXT", "amount": "DECIMAL(12,2)", "units": "INTEGER"},
        _SALES,
    ),
}  # fmt: skip


def statements(engine: str) -> Iterator[str]:
    """What makes the tables in an engine."""
    for name, (columns, rows) in TABLES.items():
        types = [f"{column} {_TYPES[engine].get(kind, kind)}" for column, kind in columns.items()]
        yield f"CREATE TABLE {name} ({', '.join(types)})"
        before, after = _BYTES[engine].split("{}")
        values = ", ".join(f"({row})" for row in rows)
        yield f"INSERT INTO {name} VALUES {values.replace('<', before).replace('>', after)}"
