"""Every kind of mess is read as a person would read it, and what is odd about it is said."""

import duckdb
import pytest

from backend.data.files.readers import read_file
from tests.messy.files import all_messes

MESSES = all_messes()


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        yield connection


def read(connection, mess, folder):
    """The columns, rows and everything that is said of the file's first table."""
    path = folder / mess.file_name
    path.write_bytes(mess.content)
    tables = read_file(connection, "t", path)
    try:
        name, understood = next(iter(tables.items()))
        relation = connection.sql(f'FROM "{name}"')
        pairs = zip(relation.columns, relation.types, strict=True)
        columns = [f"{column} {type_}" for column, type_ in pairs]
        said = [*understood.form, *understood.warnings, *understood.columns.values()]
        return columns, [list(row) for row in relation.fetchall()], "\n".join(said)
    finally:
        for name in tables:
            connection.execute(f'DROP TABLE "{name}"')


def test_there_are_many_kinds_of_mess_each_with_its_own_name():
    assert len({mess.file_name for mess in MESSES}) == len(MESSES) >= 60


@pytest.mark.parametrize("mess", MESSES, ids=lambda mess: mess.kind)
def test_a_messy_file_is_read_as_it_is_meant_and_its_oddities_are_said(mess, connection, tmp_path):
    columns, rows, said = read(connection, mess, tmp_path)

    assert columns == list(mess.columns), said
    assert rows == [list(row) for row in mess.rows], said
    for words in mess.said:
        assert words in said
    assert ("of another table" in said) == mess.kind.startswith("two tables")
