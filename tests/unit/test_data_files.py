"""Names of sources made from file names; spreadsheet headers."""

import re

from hypothesis import given
from hypothesis import strategies as st

from backend.data.files import find_files, unique_name
from backend.data.file_names import NamesDamaged, NameRegister
from backend.data.reading.header import column_names


@given(st.lists(st.text(max_size=80), max_size=20))
def test_any_text_becomes_a_plain_name_of_its_own(texts):
    names: list[str] = []
    for text in texts:
        names.append(unique_name(text, names))

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)


def test_words_of_sql_are_not_used_as_names():
    assert unique_name("select", ()) == "t_select"
    assert unique_name("2026 Sales", ()) == "t_2026_sales"
    assert unique_name("Sales 2026 (v2)", ()) == "sales_2026_v2"


@given(st.lists(st.one_of(st.none(), st.text(max_size=8), st.integers()), min_size=1, max_size=12))
def test_headers_become_distinct_column_names(header):
    names = column_names(header)

    assert len(names) == len(header)
    assert len({name.lower() for name in names}) == len(names)
    assert all(names)


def test_only_visible_data_files_are_sources(tmp_path):
    for name in ("a.csv", "B.XLSX", "c.parquet", ".hidden.csv", "~$B.xlsx", "notes.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.csv").write_text("x")

    names = name_files(find_files(tmp_path), tmp_path, {"fi"})

    assert sorted(names) == ["a", "b", "c", "deep_a"]
