"""The parser's wall: what a query may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.data.engines.local import function_names
from backend.data.errors import QueryRefused
from backend.data.sql.guard import QueryScope, check_query, referenced_tables

TABLES = frozenset({("documents",), ("fi", "documents"), ("bpc", "figures")})
DUCKDB = QueryScope("duckdb", TABLES, function_names(), may_qualify_functions=True)
POSTGRES = QueryScope("postgres", frozenset({("orders",), ("sales", "orders")}))
SQLITE = QueryScope("sqlite", frozenset({("orders",)}))
ORACLE = QueryScope(
    "oracle", frozenset({("orders",)}), columns={("orders",): frozenset({"id", "amount"})}
)
MYSQL = QueryScope("mysql", frozenset({("orders",)}))

REFUSED_DUCKDB = [
    "",
    ";",
    "-- only a comment",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE documents",
    "SELECT 1 /* ; */; /* */ DROP TABLE documents",
    "DROP TABLE documents",
    "DELETE FROM documents",
    "UPDATE documents SET text = ''",
    "INSERT INTO documents VALUES (1)",
    "CREATE TABLE x AS SELECT 1",
    "CREATE TEMP MACRO f() AS 1",
    "WITH x AS (DELETE FROM documents RETURNING *) SELECT * FROM x",
    "WITH x AS (INSERT INTO documents VALUES (1) RETURNING *) SELECT * FROM x",
    "MERGE INTO documents USING documents d ON true WHEN MATCHED THEN DELETE",
    "COPY documents TO 'out.csv'",
    "COPY (SELECT 1) TO 'out.csv' (USE_TMP_FILE false)",
    "EXPORT DATABASE 'out'",
    "ATTACH 'other.duckdb'",
    "DETACH fi",
    "USE memory",
    "SET threads = 1",
    "RESET ALL",
    "PRAGMA database_list",
    "CALL pragma_version()",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CHECKPOINT",
    "VACUUM",
    "BEGIN",
    "EXPLAIN ANALYZE SELECT 1",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "SUMMARIZE documents",
    "DESCRIBE documents",
    "SHOW TABLES",
    "SELECT * FROM (DESCRIBE documents)",
    "SELECT * FROM (SHOW TABLES)",
    "SELECT * FROM (SUMMARIZE documents)",
    "PIVOT documents ON text USING sum(amount_group)",
    "SELECT * FROM 'file.csv'",
    'SELECT * FROM "file.csv"',
    "SELECT * FROM '/etc/passwd'",
    "FROM 'file.parquet'",
    "FROM 'https://example.com/x.csv'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_csv_auto('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_parquet(['a', 'b'])",
    "SELECT * FROM read_json_auto('x')",
    "SELECT * FROM parquet_metadata('x')",
    "SELECT * FROM sniff_csv('x')",
    "SELECT * FROM glob('/**')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_databases()",
    "SELECT * FROM pragma_database_list()",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('documents')",
    "SELECT * FROM json_execute_serialized_sql('{}')",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_tables",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM system.information_schema.tables",
    "SELECT getenv('HOME')",
    "SELECT 'HOME'.getenv()",
    "SELECT getvariable('x')",
    "SELECT current_setting('home_directory')",
    "SELECT nextval('s')",
    "SELECT sleep_ms(100000)",
    "SELECT write_log('x')",
    "SELECT json_serialize_sql('SELECT 1')",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "SELECT 1 WHERE EXISTS (SELECT * FROM glob('*'))",
    "WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x",
    "SELECT * FROM documents, LATERAL (SELECT * FROM glob('*'))",
    "SELECT * FROM documents UNION ALL SELECT * FROM glob('*')",
    "SELECT * FROM documents ORDER BY (SELECT getenv('HOME'))",
    "SELECT range(1000000000)",
    "SELECT unnest(range(1000000000))",
    "SELECT [x for x in range(300000000)]",
    "SELECT range(0, 10, 0), range(line_item) FROM documents",
    "SELECT generate_series(DATE '1900-01-01', DATE '2025-01-01', INTERVAL 1 DAY)",
    "SELECT list_transform(range(1000), x -> range(1000))",
    "SELECT list_transform(range(1000), lambda x: range(1000))",
    "SELECT [range(1000) for x in range(1000)]",
    "SELECT lpad(1, 2000000000 * 1, 'y'), bar(1, 0, 1, 1000000000)",
    "SELECT repeat('x', 1000000000)",
    "SELECT repeat('x', 1000 * 1000 * 1000)",
    "SELECT repeat(repeat(repeat('x', 1000), 1000), 1000)",
    "SELECT lpad('x', 2000000000, 'y')",
    "SELECT rpad('x', line_item, 'y') FROM documents",
    "SELECT array_resize([1], 1000000000)",
    "SELECT format('{:>1000000000}', 'a')",
    "SELECT format('{:>{}}', 'a', 1000000000)",
    "SELECT printf('%1000000000d', 1)",
    "SELECT printf(text, 1) FROM documents",
    "SELECT $1",
    "SELECT ?",
    "SELECT * INTO x FROM documents",
    "(" * 500 + "SELECT 1" + ")" * 500,
    "SELECT '" + "x" * 60_000 + "'",
]
REFUSED_ELSEWHERE = [
    (POSTGRES, "SELECT pg_read_file('/etc/passwd')"),
    (POSTGRES, "SELECT pg_catalog.pg_read_file('/etc/passwd')"),
    (POSTGRES, "SELECT \"pg_read_file\"('/etc/passwd')"),
    (POSTGRES, "SELECT * FROM pg_ls_dir('/')"),
    (POSTGRES, "SELECT * FROM dblink('x', 'SELECT 1') AS t(a int)"),
    (POSTGRES, "SELECT lo_import('/etc/passwd')"),
    (POSTGRES, "SELECT pg_sleep(100)"),
    (POSTGRES, "SELECT pg_terminate_backend(1)"),
    (POSTGRES, "SELECT set_config('transaction_read_only', 'off', false)"),
    (POSTGRES, "SELECT current_setting('data_directory')"),
    (POSTGRES, "SELECT query_to_xml('SELECT 1', true, true, '')"),
    (POSTGRES, "SELECT nextval('s')"),
    (POSTGRES, "SELECT public.anything(1)"),
    (POSTGRES, "SELECT a_function_of_ours()"),
    (POSTGRES, "SELECT * FROM pg_shadow"),
    (POSTGRES, "SELECT * FROM orders FOR UPDATE"),
    (POSTGRES, "SELECT 1 OPERATOR(evil.+) 2"),
    (POSTGRES, "WITH x AS (UPDATE orders SET id = 1 RETURNING *) SELECT * FROM x"),
    (POSTGRES, "COPY orders TO PROGRAM 'sh'"),
    (POSTGRES, "DO $$ BEGIN END $$"),
    # A WITH name hides the table only where it is visible.
    (POSTGRES, "WITH x AS (WITH pg_shadow AS (SELECT 1) SELECT 1) SELECT * FROM pg_shadow"),
    (POSTGRES, "WITH pg_shadow AS (SELECT * FROM pg_shadow) SELECT * FROM pg_shadow"),
    (POSTGRES, "WITH a AS (SELECT * FROM pg_shadow), pg_shadow AS (SELECT 1) SELECT * FROM a"),
    (POSTGRES, 'WITH "PG_SHADOW" AS (SELECT 1) SELECT * FROM pg_shadow'),
    (POSTGRES, "SELECT * FROM (WITH pg_shadow AS (SELECT 1) SELECT 1) x, pg_shadow"),
    # PostgreSQL calls a function of one argument by a name after a dot.
    (POSTGRES, "SELECT (pid).pg_terminate_backend FROM orders"),
    (POSTGRES, "SELECT ('/etc/passwd'::text).pg_read_file"),
    (POSTGRES, "SELECT ('/etc/passwd'::text).\"pg_read_file\""),
    (POSTGRES, "SELECT ('/etc/passwd'::text).PG_READ_FILE.length"),
    (POSTGRES, "SELECT (ARRAY['/etc/passwd'])[1].pg_read_file"),
    (POSTGRES, "SELECT (SELECT '/etc/passwd'::text).pg_read_file"),
    (POSTGRES, "SELECT x.pg_read_file FROM lower('/etc/passwd') x"),
    (POSTGRES, "SELECT n.pg_sleep FROM generate_series(9, 9) n"),
    (POSTGRES, "SELECT o.dblink_exec FROM orders o ORDER BY o.dblink_exec"),
    (POSTGRES, "SELECT TREAT('/etc/passwd' AS pg_read_file)"),
    (ORACLE, "SELECT ids.nextval FROM dual"),
    (ORACLE, "SELECT o.id, wipe FROM orders o"),
    (ORACLE, "SELECT wipe FROM dual WHERE EXISTS (SELECT 1 AS wipe FROM dual)"),
    (ORACLE, "SELECT * FROM (SELECT 1 AS wipe FROM dual) a, (SELECT wipe FROM dual) b"),
    (ORACLE, "SELECT accounts.wipe FROM orders o"),
    (SQLITE, "SELECT load_extension('evil')"),
    (SQLITE, "ATTACH DATABASE '/tmp/x' AS x"),
    (SQLITE, "PRAGMA writable_schema = 1"),
    (SQLITE, "SELECT * FROM pragma_database_list"),
    (SQLITE, "SELECT readfile('/etc/passwd')"),
    (MYSQL, "SELECT load_file('/etc/passwd')"),
    (MYSQL, "SELECT 1 INTO OUTFILE '/tmp/x'"),
    (MYSQL, "SELECT @@datadir"),
    (MYSQL, "SELECT sleep(100)"),
    (POSTGRES, "SELECT repeat('x', 1000000000)"),
    (SQLITE, "SELECT zeroblob(1000000000)"),
]
ALLOWED_DUCKDB = [
    "SELECT 1",
    "select count(*) from documents -- a comment",
    "FROM documents",
    "SELECT * FROM fi.documents;",
    "SELECT * EXCLUDE (text) FROM documents LIMIT 3",
    "(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1",
    "WITH x AS (SELECT * FROM documents) SELECT * FROM x JOIN bpc.figures f ON true",
    "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n",
    "SELECT upper(text), date_trunc('month', document_date), round(1.5, 1) FROM documents",
    "SELECT sum(a) FILTER (WHERE a > 0), row_number() OVER (PARTITION BY b) FROM documents",
    "SELECT * FROM documents PIVOT (sum(amount_group) FOR fiscal_period IN (1, 2))",
    "SELECT * FROM range(3)",
    "SELECT unnest([1, 2])",
    "SELECT unnest(range(12)), list_transform(range(1, 13), x -> x * 2)",
    "SELECT [x * 2 for x in range(1000)], range(0, 2000, 2)",
    "SELECT unnest(generate_series(DATE '2025-01-01', DATE '2025-12-01', INTERVAL 1 MONTH))",
    "SELECT bar(amount_group, 0, 1000000, 50), repeat('x', least(line_item, 50)) FROM documents",
    "SELECT lpad(text, 10, '0'), repeat('-', 20), format('{:,.2f}', amount_group) FROM documents",
    "VALUES (1)",
    "SELECT 'DROP TABLE documents; --'",
    "SELECT regexp_matches(text, 'a'), strftime(document_date, '%Y'), list(text) FROM documents",
]
ALLOWED_ELSEWHERE = [
    (POSTGRES, "SELECT generate_series(1, 3)"),
    (POSTGRES, "SELECT date '2025-01-01' + generate_series(0, 11) * interval '1 month'"),
    (POSTGRES, "SELECT id = ANY('{1,2}'), id <> ALL(ARRAY[1, 2]), numeric(id) FROM orders"),
    (POSTGRES, "SELECT (o.address).street, (array_agg(o))[1].id, (o.note).length FROM orders o"),
    (POSTGRES, "SELECT (json_each('{}')).key, e.value FROM jsonb_each('{}') e"),
    (POSTGRES, "SELECT t.query FROM (SELECT 1 AS query) t"),
    (POSTGRES, "WITH t(test_id) AS (SELECT 1), u AS (SELECT * FROM t) SELECT u.test_id FROM u"),
    (POSTGRES, "SELECT r FROM orders CROSS JOIN LATERAL round(amount, 2) r"),
    (POSTGRES, "SELECT xpath('/a', note::xml), json_query(note, '$.a') FROM orders"),
    (MYSQL, "SELECT 1 FROM dual"),
    (MYSQL, "SELECT seq FROM seq_1_to_10"),
    (ORACLE, "SELECT sysdate, USER FROM DUAL WHERE ROWNUM < 2"),
    (ORACLE, 'SELECT o."ID", amount AS a FROM Orders o WHERE o.id > 1 ORDER BY a'),
    (ORACLE, "SELECT n FROM (SELECT count(*) AS n FROM orders) WHERE n > (SELECT id FROM orders)"),
    (ORACLE, "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM dual WHERE amount > 1)"),
    (ORACLE, "WITH x AS (SELECT * FROM orders) SELECT x.id, amount FROM x"),
]


@pytest.mark.parametrize("sql", REFUSED_DUCKDB)
def test_what_is_not_one_harmless_select_is_refused(sql):
    with pytest.raises(QueryRefused):
        check_query(sql, DUCKDB)


@pytest.mark.parametrize(("surroundings", "sql"), REFUSED_ELSEWHERE)
def test_each_database_s_own_escapes_are_refused(surroundings, sql):
    with pytest.raises(QueryRefused):
        check_query(sql, surroundings)


@pytest.mark.parametrize("sql", ALLOWED_DUCKDB)
def test_ordinary_questions_are_allowed(sql):
    assert check_query(sql, DUCKDB)


@pytest.mark.parametrize(("surroundings", "sql"), ALLOWED_ELSEWHERE)
def test_each_database_s_own_ways_are_allowed(surroundings, sql):
    assert check_query(sql, surroundings)


@pytest.mark.parametrize("verb", ["DROP TABLE", "TRUNCATE", "ALTER TABLE", "GRANT SELECT ON"])
@pytest.mark.parametrize("surroundings", [DUCKDB, POSTGRES, SQLITE, MYSQL])
def test_no_dialect_takes_a_statement_that_is_not_a_select(verb, surroundings):
    with pytest.raises(QueryRefused):
        check_query(f"{verb} orders", surroundings)


@given(st.text(max_size=200))
def test_any_text_is_either_parsed_or_refused(text):
    try:
        check_query(text, DUCKDB)
    except QueryRefused as error:
        assert error.detail


@given(st.text(alphabet="ab_ '\";-/*()", max_size=30))
def test_no_name_outside_the_known_tables_is_read(name):
    try:
        query = check_query(f"SELECT * FROM {name}", DUCKDB)
    except QueryRefused:
        return

    assert set(referenced_tables(query)) <= TABLES


def test_an_unknown_table_is_answered_with_those_that_exist():
    with pytest.raises(QueryRefused, match=r"Did you mean 'fi.documents'\?"):
        check_query("SELECT * FROM fi.document", DUCKDB)


def test_each_existing_table_is_listed_once_under_its_shortest_name():
    written = {("documents",), ("fi", "documents"), ("fi", "main", "documents"), ("bpc", "figures")}

    with pytest.raises(QueryRefused, match=r"The tables are: bpc\.figures, documents\.$"):
        check_query("SELECT * FROM nothing", QueryScope("duckdb", frozenset(written)))


def test_a_comment_that_a_database_would_execute_is_not_printed_again():
    query = check_query("SELECT 1 /*!50000 , load_file('/etc/passwd') */ AS one", MYSQL)

    assert query.sql(dialect="mysql", comments=False) == "SELECT 1 AS one"
