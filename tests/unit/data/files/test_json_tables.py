"""Tables in JSON files: nothing of a number is lost, and no date is guessed."""

import json

import duckdb
import pytest

from backend.data.errors import SourceUnusable
from backend.data.files.json_tables import read_json

LONG = "123456789012345678901234567890"
UNDECIDED = "d: stays text: not all of its dates or times are written as 2024-12-31 or 23:59."


def read(tmp_path, text):
    """The types and rows of a file's table, and its warnings."""
    place = tmp_path / "file.json"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    with duckdb.connect() as connection:
        understood = read_json(connection, "t", place)
        table = connection.sql("FROM t")
        types = dict(zip(table.columns, map(str, table.types), strict=True))
        return types, table.fetchall(), understood.warnings


@pytest.mark.parametrize("number", [LONG, f"-{LONG}", "9007199254740993", "1e400"])
def test_numbers_that_a_float_would_change_stay_text(tmp_path, number):
    text = f'[{{"id": {number}, "a b": {{"x": 1}}}}, {{"id": 1.5}}, {{"it\'s": null}}]'

    types, rows, warnings = read(tmp_path, text)

    assert types["id"] == "VARCHAR"
    assert [row[:2] for row in rows] == [(number, {"x": 1}), ("1.5", None), (None, None)]
    assert warnings == ["id: stays text: it has numbers too large to be held exactly."]


def test_decimals_that_a_float_cannot_hold_are_said_to_be_rounded(tmp_path):
    text = '[{"a": 12345678901234567.89, "b": 123456789012345.67, "c": 1e20}, {"b": 1.5}]'

    _, _, warnings = read(tmp_path, text)

    assert warnings == ["a: its numbers of more than 15 digits are rounded."]


def test_one_object_per_line_is_read_alike(tmp_path):
    types, rows, warnings = read(tmp_path, f'{{"n": 1.5}}\n{{"n": {LONG}}}\n')

    assert (types, rows) == ({"n": "VARCHAR"}, [("1.5",), (LONG,)])
    assert len(warnings) == 1


@pytest.mark.parametrize("number", [LONG, "9007199254740993", "1e400"])
def test_so_do_objects_and_arrays_with_such_numbers_in_them(tmp_path, number):
    text = f'[{{"o": {{"n": {number}, "x": 1.5}}, "a": [1, 2.5]}}, {{"o": {{"n": 2.5}}, "a": []}}]'

    types, rows, warnings = read(tmp_path, text)

    assert types == {"o": "VARCHAR", "a": "DOUBLE[]"}
    assert number in rows[0][0]
    assert warnings == ["o: stays text: it has numbers too large to be held exactly."]


@pytest.mark.parametrize(
    ("text", "types"),
    [
        (
            '[{"o": {"n": 1.5, "s": "a 12345678901234567890"}}]',
            {"o": "STRUCT(n DOUBLE, s VARCHAR)"},
        ),
        ('[{"n": 1.5}, {"n": 9007199254740992}, {"n": null}]', {"n": "DOUBLE"}),
        ('[{"n": 12345678901234567890}]', {"n": "HUGEINT"}),
        ("[1.5, 2]", {"json": "DOUBLE"}),
        ('[{"A": 1, "a": "x"}]', {"A": "BIGINT", "a_1": "VARCHAR"}),
    ],
)
def test_other_numbers_stay_numbers(tmp_path, text, types):
    found, _, warnings = read(tmp_path, text)

    assert (found, warnings) == (types, [])


@pytest.mark.parametrize(
    "values",
    [
        ["03-04-2024", "05-06-2024"],
        ["12-05-06"],
        ["2024-05-06", "1-2-3"],
        ["03-04-2024 10:20:30"],
        ["1:2:3"],
        ["epoch"],
    ],
)
def test_dates_of_which_nothing_says_the_order_stay_text(tmp_path, values):
    types, rows, warnings = read(tmp_path, json.dumps([{"d": value} for value in values]))

    assert (types, rows) == ({"d": "VARCHAR"}, [(value,) for value in values])
    assert warnings == [UNDECIDED]


@pytest.mark.parametrize(
    "value", [{"e": "03-04-2024"}, ["2024-05-06", "12-05-06"], [{"e": [" 1-2-3 10:20:30"]}]]
)
def test_so_do_objects_and_arrays_with_such_dates_in_them(tmp_path, value):
    types, rows, warnings = read(tmp_path, json.dumps([{"d": value}, {"d": None}]))

    assert types == {"d": "VARCHAR"}
    assert json.loads(rows[0][0]) == value
    assert warnings == [UNDECIDED]


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("2024-05-06", "DATE"),
        ("2024-5-6", "DATE"),
        ("2024-05-06T10:20:30", "TIMESTAMP"),
        ("10:20:30", "TIME"),
        (["2024-05-06"], "DATE[]"),
        ({"e": "2024-05-06 10:20:30", "n": 1.5}, "STRUCT(e TIMESTAMP, n DOUBLE)"),
    ],
)
def test_dates_that_begin_with_the_year_are_dates(tmp_path, value, type_):
    types, _, warnings = read(tmp_path, json.dumps([{"d": value}, {"d": None}]))

    assert (types, warnings) == ({"d": type_}, [])


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([300, "Avatar", None, 1941.5], ["300", "Avatar", None, "1941.5"]),
        ([164, "", True], ["164", "", "true"]),
        (["a", {"b": 1}], ["a", '{"b":1}']),
    ],
)
def test_values_of_several_kinds_are_text_as_it_is_written(tmp_path, values, texts):
    text = json.dumps([{"v": value} for value in values], separators=(",", ":"))

    types, rows, warnings = read(tmp_path, text)

    assert (types, rows) == ({"v": "VARCHAR"}, [(text,) for text in texts])
    assert warnings == ["v: stays text: its values are of several kinds."]


def test_objects_and_arrays_alone_stay_json(tmp_path):
    types, _, warnings = read(tmp_path, '[{"v": {"a": 1}}, {"v": [1]}, {"v": null}]')

    assert (types, warnings) == ({"v": "JSON"}, [])


def test_names_that_look_as_if_they_were_changed_hide_nothing(tmp_path):
    text = f'[{{"address": "x", "address_1": {LONG}}}, {{"address": "y", "address_1": 1.5}}]'

    types, rows, warnings = read(tmp_path, text)

    assert types == {"address": "VARCHAR", "address_1": "VARCHAR"}
    assert rows == [("x", LONG), ("y", "1.5")]
    assert warnings == ["address_1: stays text: it has numbers too large to be held exactly."]


def test_names_that_differ_only_in_case_are_said_to_prevent_the_check(tmp_path):
    types, _, warnings = read(tmp_path, f'{{"a": 1.5}}\n{{"A": {LONG}, "b": "03-04-2024"}}')

    assert types == {"a": "DOUBLE", "A_1": "DOUBLE", "b": "DATE"}
    assert len(warnings) == 1
    assert "names differ only in case: A, a. Rename them" in warnings[0]


@pytest.mark.parametrize("text", [f"[{LONG}, 1.5]", f"{LONG}\n1.5"])
def test_values_that_are_no_objects_stay_text_alike(tmp_path, text):
    types, rows, warnings = read(tmp_path, text)

    assert (types, rows) == ({"json": "VARCHAR"}, [(LONG,), ("1.5",)])
    assert warnings == ["json: stays text: it has numbers too large to be held exactly."]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('[{"n": 1}, {"n": 2}]', [(1,), (2,)]),
        (' \n[{"n": 1},\n {"n": 2}]', [(1,), (2,)]),
        ('{"n": 1}\n{"n": 2}\n', [(1,), (2,)]),
        ("[1, 2]\n[3]", [([1, 2],), ([3],)]),
        (f"[{LONG}, 1.5]", [(LONG,), ("1.5",)]),
    ],
)
def test_a_byte_order_mark_hides_no_rows_and_the_file_stays_as_it_is(tmp_path, text, rows):
    assert read(tmp_path, "\ufeff" + text)[1] == rows

    assert [path.name for path in tmp_path.iterdir()] == ["file.json"]
    assert (tmp_path / "file.json").read_text() == "\ufeff" + text


@pytest.mark.parametrize(
    ("rows", "width"),
    [
        ([{f"k{n}": 0} for n in range(30)], 30),
        ([{str(n): 7 for n in range(300)}] * 3, 300),
    ],
)
def test_many_or_differing_keys_are_columns(tmp_path, rows, width):
    types, read_rows, _ = read(tmp_path, "\n".join(map(json.dumps, rows)))

    assert set(types) == {key for row in rows for key in row}
    assert (len(types), len(read_rows)) == (width, len(rows))


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_unicode_than_utf_8_is_read(tmp_path, codec):
    content = '[{"name": "é"},\n {"name": "plain"}]'.encode(codec)

    assert read(tmp_path, content)[1] == [("é",), ("plain",)]
    assert (tmp_path / "file.json").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["file.json"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('[{"a": "é"}]'.encode("latin-1"), "neither UTF-8 nor UTF-16. Save it as UTF-8"),
        ("\ufeff[".encode() + b'{"a": "\xe9"}]', "neither UTF-8 nor UTF-16. Save it as UTF-8"),
        (b'[{"a": 1, "a": 2}]', "has the same key twice"),
        (b'[{"a": {"B": 1, "b": 2}}]', "differ only in case. Rename them"),
        (b'{"a": [{"n": 1}], "a": [{"n": 2}]}', "has the same key twice"),
        (rb'[{"a": "\ud800"}]', "half of a surrogate pair"),
        (rb'[{"a": "\udc00"}]', "half of a surrogate pair"),
        (rb'[{"a": "\x"}]', "an invalid escape"),
        (b'[{"a": 1,]', "not JSON with a table"),
    ],
)
def test_the_reason_for_which_json_is_refused_is_true(tmp_path, content, reason):
    with pytest.raises(SourceUnusable, match=reason):
        read(tmp_path, content)


@pytest.mark.parametrize(
    "text",
    [
        '{"items": [{"a": "x", "n": 1}, {"a": "y", "n": 2}]}',
        '\n {"d": {"results": [{"a": "x", "n": 1}, {"a": "y", "n": 2}]}}',
        '{"a/b~c": [{"a": "x", "n": 1}, {"a": "y", "n": 2}]}',
    ],
)
def test_the_only_list_in_an_object_is_the_table(tmp_path, text):
    types, rows, warnings = read(tmp_path, text)

    assert (types, rows) == ({"a": "VARCHAR", "n": "BIGINT"}, [("x", 1), ("y", 2)])
    assert warnings == []
    assert [one.name for one in tmp_path.iterdir()] == ["file.json"]


def test_what_is_beside_the_list_is_said(tmp_path):
    text = '{"count": 2, "d": {"next": null, "rows": [{"n": 1}, {"n": 2}]}, "more": {"x": [1, 2]}}'

    _, rows, warnings = read(tmp_path, text)

    assert rows == [(1,), (2,)]
    assert warnings == ["Only the list is read, not what is beside it: count, more, d.next."]


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ('{"orders": [{"n": 1}], "items": [{"n": 2}, {"n": 3}]}', "'orders' and 'items'"),
        ('{"meta": {"columns": [{"name": "n"}]}, "data": [[1], [2]]}', "'data'"),
        ('{"A": 1, "a": [{"x": 1}]}', "'a_1'"),
    ],
)
def test_several_lists_and_lists_of_lists_stay_in_cells_and_are_said(tmp_path, text, lists):
    _, rows, warnings = read(tmp_path, text)

    assert len(rows) == 1 and len(warnings) == 1
    assert warnings[0].startswith(f"The file is one row, with {lists} in a cell.")


@pytest.mark.parametrize(
    "text",
    [
        '{"n": 1, "of": [{"x": 1}]}\n{"n": 2, "of": [{"x": 2}]}',
        '[{"n": 1, "of": [{"x": 1}]}]',
        '{"n": 1, "of": [1, 2], "nothing": []}',
        '{"n": 1, "of": {"any": {"one": [{"x": 1}]}}}',
    ],
)
def test_rows_that_hold_lists_are_rows(tmp_path, text):
    types, rows, warnings = read(tmp_path, text)

    assert list(types)[:2] == ["n", "of"]
    assert (len(rows), warnings) == (text.count('"n"'), [])


def test_in_such_a_list_no_number_is_lost_and_no_date_guessed(tmp_path):
    text = f'{{"items": [{{"id": {LONG}, "d": "03-04-2024"}}, {{"id": 1, "d": "04-05-2024"}}]}}'

    types, rows, warnings = read(tmp_path, text)

    assert types == {"id": "VARCHAR", "d": "VARCHAR"}
    assert rows[0] == (LONG, "03-04-2024")
    assert warnings == ["id: stays text: it has numbers too large to be held exactly.", UNDECIDED]
