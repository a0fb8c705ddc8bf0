"""What is refused says what to write instead; what only computes is allowed."""

import time

import duckdb
import pytest

from backend.data.engines import local
from backend.data.engines.local import function_names
from backend.data.engines.verbatim import verbatim
from backend.data.errors import QueryRefused
from backend.data.sql.functions import HARMLESS
from backend.data.sql.guard import QueryScope, check_query
from backend.data.sql.names import how_to_write, written

TABLES = frozenset({("orders",), ("shop", "orders")})
ALL = {
    "duckdb": QueryScope("duckdb", TABLES, function_names(), may_qualify_functions=True),
    **{name: QueryScope(name, TABLES) for name in ("postgres", "mysql", "sqlite", "oracle")},
}

# Each refusal holds the words that help to write the query otherwise.
REFUSALS = [
    ("duckdb", "SELECT 1; SELECT 2", "ask one at a time"),
    ("duckdb", "DROP TABLE orders", "read-only"),
    ("duckdb", "DESCRIBE orders", "describe_source"),
    ("duckdb", "SUMMARIZE orders", "describe_source"),
    ("duckdb", "SHOW TABLES", "describe_source"),
    ("duckdb", "PIVOT orders ON day USING sum(amount)", "SELECT … FROM t PIVOT"),
    ("duckdb", "SELECT * FROM 'orders.csv'", "The tables are: orders"),
    ("duckdb", "SELECT * FROM read_csv('orders.csv')", "list_sources"),
    ("duckdb", "SELECT * FROM information_schema.tables", "describe_source"),
    ("duckdb", "SELECT $1", "Write the value itself"),
    ("duckdb", "SELECT current_setting('threads')", "Write the value itself"),
    ("duckdb", "SELECT nextval('s')", "row_number() OVER"),
    ("duckdb", "SELECT range(2000)", "in FROM"),
    ("duckdb", "SELECT repeat('x', 1000000)", "up to 1,000"),
    ("postgres", "SELECT * FROM orders FOR UPDATE", "Leave out FOR UPDATE"),
    ("postgres", "SELECT * INTO x FROM orders", "Leave out INTO"),
    ("postgres", "SELECT 1 OPERATOR(pg_catalog.+) 2", "without OPERATOR"),
    ("postgres", "SELECT * FROM pg_catalog.pg_class", "describe_source"),
    ("postgres", "SELECT query_to_xml('SELECT 1', true, true, '')", "Write that query itself"),
    ("postgres", "SELECT pg_read_file('x')", "list_sources"),
    ("postgres", "SELECT jsonb_prety('1')", "Did you mean 'jsonb_pretty'"),
    ("postgres", "SELECT shop.upper(1)", "without a schema in front"),
    ("postgres", "SELECT (1).pg_sleep", "pg_sleep after a dot calls the function"),
    ("mysql", "SELECT @@datadir", "Write the value itself"),
    ("mysql", "SELECT load_file('x')", "list_sources"),
    ("sqlite", "SELECT * FROM sqlite_master", "describe_source"),
    ("sqlite", "SELECT * FROM pragma_table_info('orders')", "list_sources names the tables"),
]
# Written as the databases read them; printed anew by the parser each would be another query.
AS_WRITTEN = [
    ("mysql", "SELECT COUNT(*) FROM orders WHERE a REGEXP 'x' AND b = 'it\\'s'",
     "SELECT COUNT(*) FROM orders WHERE a REGEXP 'x' AND b = 'it''s'"),
    ("mysql", "SELECT \"a\", `b c` /* hidden */ FROM orders # end",
     "SELECT 'a', `b c` FROM orders"),
    ("mysql", "SELECT 1 /*!50000 , load_file('x') */ AS one;", "SELECT 1 AS one"),
    ("mysql", "SELECT 'a\\\\'", "SELECT 'a\\\\'"),
    ("postgres", "SELECT a::int, 'x\\', \"B\"\"c\" -- no\n FROM orders",
     "SELECT a::int, 'x\\', \"B\"\"c\"\nFROM orders"),
    ("postgres", 'SELECT (a).U&"b", date\'2025-01-01\'',
     'SELECT (a).U& "b", date \'2025-01-01\''),
    ("postgres", "SELECT E'a\\'b', $$c$$", "SELECT e'a''b', 'c'"),
    ("sqlite", "SELECT [a b], floor(x), y == 1 FROM orders",
     'SELECT "a b", floor(x), y == 1 FROM orders'),
    ("sqlite", "SELECT 'größe' || 'x' , x'00ff'", "SELECT 'größe' || 'x' , x'00ff'"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "sql", "words"), REFUSALS)
def test_a_refusal_says_what_to_write_instead(dialect, sql, words):
    with pytest.raises(QueryRefused) as raised:
        check_query(sql, ALL[dialect])

    assert words in raised.value.detail


def test_no_function_that_is_called_harmless_is_refused_for_its_name():
    refused = []
    for dialect, names in HARMLESS.items():
        for name in names:
            reasons = [
                reason_of(f"SELECT {name}({given})", dialect) for given in ("1", "'a', 1", "")
            ]
            refused += [name for reason in reasons if "is not allowed" in reason]

    assert refused == []


def reason_of(sql, dialect):
    try:
        check_query(sql, ALL[dialect])
    except QueryRefused as error:
        return error.detail
    return ""


@pytest.mark.parametrize(("dialect", "sql", "sent"), AS_WRITTEN)
def test_a_database_gets_the_query_s_own_words_without_comments(dialect, sql, sent):
    checked = check_query(sql, ALL[dialect])

    assert verbatim(sql, checked, dialect) == sent


def test_names_are_written_with_quotes_where_sql_needs_them():
    names = ["plain", "Mixed", "two words", "select", "größe", 'a"b']

    assert [written([name], "duckdb") for name in names] == [
        "plain", "Mixed", '"two words"', '"select"', '"größe"', '"a""b"',
    ]  # fmt: skip
    assert [written([name], "postgres") for name in names[:4]] == [
        "plain", '"Mixed"', '"two words"', '"select"',
    ]  # fmt: skip
    assert written(["shop", "two words"], "mysql") == "shop.`two words`"
    assert how_to_write("m.id", ["id", '"Id"']).startswith(' Write it as id or "Id"')
    assert how_to_write("amout", ["amount"]) == " Did you mean 'amount'?"


def test_a_long_message_of_the_engine_is_explained_at_once():
    began = time.monotonic()
    with duckdb.connect(":memory:") as connection:
        text = local._explain(connection, "\n" * 300_000 + " " * 300_000)

    assert text == ""
    assert time.monotonic() - began < 30
