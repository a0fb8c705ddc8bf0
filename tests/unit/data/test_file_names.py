"""Names of files as sources: plain, of all scripts, and kept for ever."""

import json
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from backend.data.files.folder import find_files, stem_of, unique_name
from backend.data.files.names import NameRegister, NamesDamaged
from backend.data.origins import Origins, digest_of
from backend.data.reading.header import column_names


@given(st.lists(st.text(max_size=80), max_size=20))
def test_any_text_becomes_a_plain_name_of_its_own(texts):
    names: list[str] = []
    for text in texts:
        names.append(unique_name(text, names))

    assert len(set(names)) == len(names)
    for name in names:
        assert name[0].isalpha()
        assert all(c == "_" or c.isalnum() or unicodedata.category(c)[0] == "M" for c in name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("select", "t_select"),
        ("2026 Sales", "t_2026_sales"),
        ("Sales 2026 (v2)", "sales_2026_v2"),
        ("Umsätze 2026", "umsätze_2026"),
        ("销售", "销售"),
        ("продажи", "продажи"),
        ("हिन्दी", "हिन्दी"),
        ("!!!", "source"),
    ],
)
def test_letters_of_all_scripts_are_kept_and_want_no_quotes(text, name):
    assert unique_name(text, ()) == name
    sql = f"SELECT {name}.a FROM (SELECT 1 AS a) AS {name}"
    assert duckdb.sql(sqlglot.parse_one(sql, dialect="duckdb").sql("duckdb")).fetchall() == [(1,)]


@given(st.lists(st.text(max_size=8), min_size=1, max_size=12))
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

    stems = [stem_of(path.relative_to(tmp_path).as_posix()) for path in find_files(tmp_path)]

    assert sorted(stems) == ["B", "a", "c", "deep/a"]


def test_a_name_is_kept_whatever_comes_and_goes(tmp_path):
    register = NameRegister(tmp_path / "names.json")
    first = register.name_all({"Sales 2026.csv": "Sales 2026"}, ())

    # It sorts before the first one, which had to give way to it.
    both = register.name_all({"Sales  2026.csv": "Sales  2026", "Sales 2026.csv": "Sales 2026"}, ())
    alone = register.name_all({"Sales  2026.csv": "Sales  2026"}, ())
    later = NameRegister(tmp_path / "names.json").name_all({"sales_2026.csv": "sales_2026"}, ())

    assert first == {"Sales 2026.csv": "sales_2026"}
    assert both == {"Sales 2026.csv": "sales_2026", "Sales  2026.csv": "sales_2026_2"}
    assert alone == {"Sales  2026.csv": "sales_2026_2"}
    assert later == {"sales_2026.csv": "sales_2026_3"}


def test_files_named_at_once_by_many_get_one_name_each(tmp_path):
    def name(number):
        register = NameRegister(tmp_path / "names.json")
        return register.name_all({f"{number % 10}/a.csv": "a", f"{number}.csv": "a"}, {"a"})

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(name, range(40)))

    known = json.loads((tmp_path / "names.json").read_text())
    assert len(set(known.values())) == len(known) == 50
    assert all(known[path] == given for answer in answers for path, given in answer.items())


def test_a_damaged_register_is_no_reason_to_name_anew(tmp_path):
    (tmp_path / "names.json").write_text("{")

    with pytest.raises(NamesDamaged):
        NameRegister(tmp_path / "names.json").name_all({"a.csv": "a"}, ())


def test_hosts_on_which_a_name_stands_for_another_file_have_other_digests(tmp_path):
    def digest(host: str, *files: str) -> str:
        (folder := tmp_path / host / "sources").mkdir(parents=True)
        for file in files:  # each is named when it is first seen
            (folder / file).write_text("a,b\n1,2\n")
            found = Origins(tmp_path / host, {}).find_all()
        return digest_of(found)

    first = digest("one", "sales.csv", "sales.tsv")

    assert digest("same", "sales.csv", "sales.tsv") == first
    assert digest("later", "sales.tsv", "sales.csv") != first
    assert digest("fewer", "sales.csv") != first
