# ruff: noqa: E501 - each question stays on its line
"""Ten small tables with awkward values, and questions about them, for four engines.

Each table is written once, in SQL that all engines read but for what `_TYPES` and `_BYTES` name.
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


EVERYWHERE = [
    f"SELECT id, {column} FROM {table} ORDER BY id"
    for table, (columns, _) in TABLES.items()
    for column in columns
    if "id" in columns
] + [
    "SELECT * FROM sales ORDER BY year, quarter, region",
    "SELECT * FROM staff ORDER BY id",
    "SELECT * FROM decimals WHERE id > 1 ORDER BY id DESC",
    "SELECT count(*) FROM orders",
    "SELECT count(customer), count(DISTINCT customer) FROM orders",
    "SELECT sum(amount), min(amount), max(amount) FROM orders",
    "SELECT sum(big) FROM whole WHERE id > 2",
    "SELECT max(big), min(big) FROM whole",
    "SELECT sum(huge) FROM whole WHERE id IN (3, 4)",
    "SELECT sum(units), avg(units * 1.0) FROM sales WHERE units = 2",
    "SELECT customer, sum(amount) AS total FROM orders WHERE customer > 0 GROUP BY customer ORDER BY 1",
    "SELECT c.name, o.amount FROM orders o JOIN customers c ON c.id = o.customer ORDER BY o.id",
    "SELECT c.name, count(o.id) FROM customers c LEFT JOIN orders o ON o.customer = c.id "
    "GROUP BY c.id, c.name ORDER BY c.id",
    "SELECT id FROM orders WHERE note IS NULL OR note = '' ORDER BY id",
    "SELECT id FROM words WHERE code LIKE '1%' ORDER BY id",
    "SELECT id FROM words WHERE word LIKE '%|%' OR code = '_x' ORDER BY id",
    "SELECT id FROM customers WHERE name = 'O''Brien'",
    "SELECT id FROM customers WHERE name IN ('株式会社', 'x') ORDER BY id",
    "SELECT upper(country), lower(country) FROM customers ORDER BY id",
    "SELECT coalesce(note, 'none') FROM orders ORDER BY id",
    "SELECT nullif(note, '') FROM orders ORDER BY id",
    "SELECT CASE WHEN amount > 0 THEN 'in' WHEN amount < 0 THEN 'out' ELSE '?' END FROM orders "
    "ORDER BY id",
    "SELECT replace(name, 'O', '0') FROM customers ORDER BY id",
    "SELECT substr(code, 1, 2) FROM words ORDER BY id",
    "SELECT trim(name) FROM customers ORDER BY id",
    "SELECT round(amount, 1) FROM orders ORDER BY id",
    "SELECT abs(amount), -amount, amount + 1, amount * 2 FROM orders ORDER BY id",
    "SELECT id % 2, id * 10, id - 7 FROM orders ORDER BY id",
    "SELECT 7 / 2, 7.0 / 2, -7 / 2, 7 % 3",
    "SELECT big - 1 FROM whole WHERE id IN (3, 4) ORDER BY id",
    "SELECT value * 2, weight / 4 FROM floats ORDER BY id",
    "SELECT value FROM floats WHERE value > 0 ORDER BY value",
    "SELECT avg(weight) FROM floats WHERE id > 3",
    "SELECT id FROM moments WHERE day >= '2025-01-01' ORDER BY id",
    "SELECT max(moment), min(moment), max(clock) FROM moments",
    "SELECT count(*) FROM moments WHERE moment IS NULL",
    "SELECT id FROM flags WHERE yes ORDER BY id",
    "SELECT id, NOT yes FROM flags WHERE yes IS NOT NULL ORDER BY id",
    "SELECT s.name, b.name FROM staff s LEFT JOIN staff b ON b.id = s.boss ORDER BY s.id",
    "WITH RECURSIVE up AS (SELECT id, boss, 1 AS depth FROM staff WHERE boss IS NULL UNION ALL "
    "SELECT s.id, s.boss, up.depth + 1 FROM staff s JOIN up ON s.boss = up.id) "
    "SELECT id, depth FROM up ORDER BY id",
    "SELECT name, rank() OVER (ORDER BY salary DESC) FROM staff WHERE salary > 0 ORDER BY id",
    "SELECT name, row_number() OVER (ORDER BY id) FROM staff ORDER BY id",
    "SELECT id, sum(salary) OVER (ORDER BY id) FROM staff WHERE salary > 0 ORDER BY id",
    "SELECT id, lag(salary) OVER (ORDER BY id) FROM staff ORDER BY id",
    "SELECT region, sum(amount) FROM sales GROUP BY region ORDER BY region",
    "SELECT year, quarter, sum(amount) FROM sales GROUP BY year, quarter ORDER BY 1, 2",
    "SELECT year, sum(amount) FROM sales WHERE region = 'North' GROUP BY year "
    "HAVING sum(amount) > 100 ORDER BY year",
    "SELECT year, sum(CASE WHEN region = 'West' THEN amount ELSE 0 END) FROM sales GROUP BY year "
    "ORDER BY year",
    "SELECT DISTINCT region FROM sales ORDER BY region DESC",
    "SELECT region, amount FROM sales ORDER BY amount DESC, region LIMIT 3",
    "SELECT region, amount FROM sales ORDER BY amount DESC, region LIMIT 3 OFFSET 2",
    "SELECT a.region FROM sales a WHERE a.amount = (SELECT max(b.amount) FROM sales b)",
    "SELECT count(*) FROM sales a WHERE EXISTS (SELECT 1 FROM sales b WHERE b.units > a.units)",
    "SELECT id FROM customers WHERE id NOT IN "
    "(SELECT customer FROM orders WHERE customer IS NOT NULL)",
    "SELECT id FROM orders UNION SELECT id FROM staff ORDER BY 1",
    "SELECT id FROM orders UNION ALL SELECT id FROM staff ORDER BY 1",
    "SELECT x.total FROM (SELECT sum(amount) AS total FROM sales) x",
    "SELECT amount FROM sales WHERE amount BETWEEN 100 AND 200 ORDER BY amount",
    "SELECT 1 AS one, 'text' AS word, NULL AS gone, 'it''s' AS quote",
    "SELECT count(*) FROM orders a CROSS JOIN staff b",
    "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM staff)",
    "SELECT year, region, amount - avg(amount) OVER (PARTITION BY region) FROM sales "
    "WHERE year = 2024 AND quarter = 1 ORDER BY region",
    "SELECT count(*) FROM sales WHERE (year, quarter) IN ((2024, 1), (2025, 2))",
    "WITH big AS (SELECT * FROM sales WHERE amount > 500), few AS (SELECT * FROM big WHERE units < 3) "
    "SELECT count(*), sum(amount) FROM few",
]
ONLY = {
    "duckdb": [
        "SELECT list(id ORDER BY id), [1, NULL, 3], {'a': 1, 'b': 'x'} FROM orders",
        "SELECT day + INTERVAL 1 MONTH, date_trunc('month', day), year(day) FROM orders ORDER BY id",
        "SELECT strftime(day, '%Y-%m'), dayname(day), last_day(day) FROM orders ORDER BY id",
        "SELECT median(amount), quantile_cont(amount, 0.9), mode(region), stddev(amount) FROM sales",
        "SELECT string_agg(name, ', ' ORDER BY name), first(name ORDER BY id) FROM staff",
        "SELECT regexp_extract(code, '[0-9]+'), split_part(code, ',', 1), code[1:2] FROM words ORDER BY id",
        "SELECT * EXCLUDE (note) REPLACE (amount * 2 AS amount) FROM orders ORDER BY id",
        "FROM staff SELECT name ORDER BY ALL",
        "SELECT region, year, sum(amount) FROM sales GROUP BY ALL ORDER BY ALL",
        "SELECT region, sum(amount) FILTER (WHERE year = 2025) FROM sales GROUP BY 1 ORDER BY 1",
        "SELECT region, amount FROM sales QUALIFY row_number() OVER (PARTITION BY region ORDER BY amount) = 1 ORDER BY 1",
        "SELECT * FROM sales PIVOT (sum(amount) FOR year IN (2024, 2025) GROUP BY region) ORDER BY region",
        "SELECT unnest([1, 2, 3]) AS n",
        "SELECT range AS n FROM range(5)",
        "SELECT n FROM generate_series(1, 3) AS g(n)",
        "SELECT ROUND(sum(huge), 0), sum(small) FROM whole",
        "SELECT big::HUGEINT * big FROM whole WHERE id < 3 ORDER BY id",
        "SELECT try_cast(code AS INTEGER) FROM words ORDER BY id",
        "SELECT epoch(moment), moment::DATE, datediff('day', day, DATE '2025-12-31') FROM moments WHERE id < 3 ORDER BY id",
        "SELECT octet_length(content), hex(content), md5(content) FROM flags ORDER BY id",
        "SELECT printf('%05d', id), format('{:.2f}', amount), lpad(id::VARCHAR, 3, '0') FROM orders ORDER BY id",
        "SELECT approx_count_distinct(region), arg_max(region, amount), bool_or(units > 5) FROM sales",
        "SELECT year, region, sum(amount) FROM sales GROUP BY ROLLUP (year, region) ORDER BY 1 NULLS FIRST, 2 NULLS FIRST",
        "SELECT list_transform([1, 2], lambda x: x * 2), list_sum([1.5, 2]), array_length([1, 2])",
        "SELECT json_extract_string('{\"a\": [1, 2]}', '$.a[1]'), to_json({'a': 1})",
        "SELECT map {'a': 1}['a'], struct_pack(x := 1).x, uuid() IS NOT NULL",
        "SELECT 5 // 2, 2 ** 10, 7 / 2, 1e3",
        "SELECT s.name, x.total FROM staff s, LATERAL (SELECT sum(amount) AS total FROM orders o WHERE o.id = s.id) x ORDER BY 1",
        "SELECT o.id, s.name FROM orders o ASOF JOIN staff s ON o.id >= s.id ORDER BY 1",
        "SELECT name ILIKE 'b%', name SIMILAR TO '[A-C].*', name[-1] FROM staff ORDER BY id",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT pg_size_pretty(2048::BIGINT)",
    ],
    "postgres": [
        "SELECT array_agg(id ORDER BY id), ARRAY[1, NULL, 3] FROM orders",
        "SELECT day + INTERVAL '1 month', date_trunc('month', day), extract(year FROM day) FROM orders ORDER BY id",
        "SELECT to_char(day, 'YYYY-MM'), to_char(amount, 'FM999G990D00') FROM orders ORDER BY id",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount), mode() WITHIN GROUP (ORDER BY region) FROM sales",
        "SELECT string_agg(name, ', ' ORDER BY name), bool_and(salary > 0), every(id > 0) FROM staff",
        "SELECT regexp_replace(code, '[0-9]', 'x', 'g'), split_part(code, ',', 1), left(code, 1) FROM words ORDER BY id",
        "SELECT DISTINCT ON (region) region, amount FROM sales ORDER BY region, amount",
        "SELECT region, sum(amount) FILTER (WHERE year = 2025) FROM sales GROUP BY 1 ORDER BY 1",
        "SELECT year, region, sum(amount) FROM sales GROUP BY GROUPING SETS ((year), (region)) ORDER BY 1, 2",
        "SELECT n FROM generate_series(1, 3) AS n",
        "SELECT v FROM jsonb_array_elements_text('[1, \"b\"]') AS v",
        "SELECT k, v FROM jsonb_each_text('{\"a\": 1}') AS e(k, v)",
        "SELECT part FROM regexp_split_to_table('a,b', ',') AS part",
        "SELECT x.a FROM jsonb_to_recordset('[{\"a\": 1}]') AS x(a int)",
        "SELECT jsonb_build_object('a', id) FROM staff ORDER BY id",
        "SELECT to_jsonb(name), json_agg(id) FROM staff GROUP BY name ORDER BY name",
        "SELECT jsonb_path_query_first('{\"a\": [1, 2]}', '$.a[1]'), '{\"a\": {\"b\": 1}}'::jsonb #>> '{a,b}'",
        "SELECT '{\"a\": 1}'::jsonb -> 'a', '{\"a\": 1}'::jsonb ->> 'a', '{\"a\": 1}'::jsonb ? 'a'",
        "SELECT (now() - now()) = interval '0', statement_timestamp() = now() OR true",
        "SELECT make_date(2025, 1, 31), make_interval(days => 3) = interval '3 days'",
        "SELECT age(timestamp '2025-03-01', timestamp '2024-01-31') > interval '1 year'",
        "SELECT encode(content, 'hex'), length(content), get_byte(content, 0) FROM flags WHERE id IN (1, 4) ORDER BY id",
        "SELECT gcd(12, 18), lcm(4, 6), div(7, 2), cbrt(27), trunc(1.55, 1), scale(1.50)",
        "SELECT width_bucket(5, 0, 10, 5), num_nulls(1, NULL), greatest(1, 2), sign(-2)",
        "SELECT name ILIKE 'b%', name ~ '^[A-C]', name SIMILAR TO '(A|B)%' FROM staff ORDER BY id",
        "SELECT s.name, x.total FROM staff s, LATERAL (SELECT sum(amount) AS total FROM orders o WHERE o.id = s.id) x ORDER BY 1",
        "SELECT lower(int4range(1, 5)), upper_inf(numrange(1, NULL)), 3 <@ int4range(1, 5)",
        "SELECT family(inet '::1'), host(inet '10.0.0.1/8'), netmask(inet '10.0.0.1/8')::text",
        "SELECT array_length(ARRAY[1, 2], 1), cardinality(ARRAY[1]), unnest(ARRAY[1, 2])",
        "SELECT array_to_string(string_to_array('a,b', ','), '-'), ARRAY[1, 2] && ARRAY[2]",
        "SELECT to_tsvector('simple', 'a b') @@ to_tsquery('simple', 'a')",
        "SELECT 7 / 2, 7 % -3, 2 ^ 10, |/ 16, 5 # 3, ~1, 1 << 4",
        "SELECT CAST('12' AS int), '1.50'::numeric, 'x'::varchar(3), NULL::date",
        "SELECT public.orders.id FROM public.orders ORDER BY 1",
        "SELECT pg_typeof(1)::text, pg_size_pretty(2048::bigint), pg_column_size(1)",
        "SELECT corr(value, weight), regr_slope(value, weight), var_pop(units) FROM floats, sales WHERE floats.id = 4",
        "SELECT id FROM orders ORDER BY amount DESC NULLS LAST FETCH FIRST 2 ROWS ONLY",
    ],
    "mysql": [
        "SELECT day + INTERVAL 1 MONTH, year(day), month(day), dayname(day) FROM orders ORDER BY id",
        "SELECT date_format(day, '%Y-%m'), last_day(day), quarter(day) FROM orders ORDER BY id",
        "SELECT group_concat(name ORDER BY name SEPARATOR ', ') FROM staff",
        "SELECT ifnull(note, 'none'), if(amount > 0, 'in', 'out'), isnull(note) FROM orders ORDER BY id",
        "SELECT timediff('10:00:00', '11:30:00'), timestampdiff(DAY, '2025-01-01', '2025-12-31')",
        "SELECT datediff('2025-12-31', day), date_add(day, INTERVAL 1 DAY), weekday(day) FROM orders ORDER BY id",
        "SELECT str_to_date('31.01.2025', '%d.%m.%Y'), makedate(2025, 32), sec_to_time(90061)",
        "SELECT now() >= '2000-01-01', curdate() > '2000-01-01', unix_timestamp('1970-01-02') > 0",
        "SELECT 7 DIV 2, 7 / 2, 7 MOD 3, 5 ^ 3, 5 & 3, 1 << 4, ~0",
        "SELECT concat('a', 1, 'b'), concat_ws('-', 'a', NULL, 'b'), 'a' = 'A'",
        "SELECT lpad(id, 3, '0'), left(note, 2), instr(note, 'o'), locate('o', note) FROM orders ORDER BY id",
        "SELECT substring_index('a.b.c', '.', 2), find_in_set('b', 'a,b'), field('b', 'a', 'b'), elt(2, 'x', 'y')",
        "SELECT truncate(1.99, 1), ceil(1.2), pow(2, 3), greatest(1, 2), least(1, 2), sign(-3)",
        "SELECT json_extract('{\"a\": [1, 2]}', '$.a[1]'), json_unquote(json_extract('{\"a\": \"x\"}', '$.a'))",
        "SELECT json_object('a', id), json_array(id, name) FROM staff ORDER BY id",
        "SELECT json_arrayagg(id) FROM staff WHERE id = 1",
        "SELECT hex(content), length(content), md5(content), crc32(content) FROM flags ORDER BY id",
        "SELECT inet_aton('10.0.0.1'), inet_ntoa(167772161), conv('ff', 16, 10), bin(5), oct(8)",
        "SELECT regexp_replace(code, '[0-9]', 'x'), code REGEXP '^[0-9]+$', regexp_substr(code, '[0-9]+') FROM words ORDER BY id",
        "SELECT cast(code AS SIGNED), cast('1.5' AS DECIMAL(5,2)), cast('12:30' AS TIME) FROM words WHERE id = 1",
        "SELECT year, region, sum(amount) FROM sales GROUP BY year, region WITH ROLLUP",
        "SELECT `id`, `note` FROM `orders` ORDER BY `id`",
        "SELECT id FROM shop.orders ORDER BY id",
        "SELECT x.a FROM json_table('[1, 2]', '$[*]' COLUMNS (a INT PATH '$')) x",
        "SELECT median(amount) OVER (PARTITION BY region) FROM sales WHERE year = 2024 ORDER BY 1",
        "SELECT std(amount), variance(amount), bit_or(units) FROM sales",
        "SELECT addtime('23:00:00', '02:00:00'), subtime('01:00:00', '02:00:00'), maketime(30, 0, 0)",
        "SELECT id FROM orders WHERE amount <=> NULL",
        "SELECT id <> 1, id != 1, NOT id = 1, id = 1 XOR id = 2 FROM orders ORDER BY id",
        "SELECT extract(YEAR_MONTH FROM day), week(day, 1), yearweek(day) FROM orders ORDER BY id",
        "SELECT 'a' 'b', \"double\", 0x41, b'101' + 0, N'x', _utf8mb4'y'",
        "SELECT char_length(word), length(word), reverse(word), ascii(word) FROM words ORDER BY id",
        "SELECT ucase('a'), lcase('A'), mid('abc', 2, 1), space(2), strcmp('a', 'b'), soundex('Ada')",
        "SELECT 18446744073709551615, cast(-1 AS UNSIGNED), 1e0, .5",
        "SELECT id FROM orders ORDER BY amount IS NULL, amount DESC LIMIT 1, 2",
    ],
    "sqlite": [
        "SELECT date(day, '+1 month'), strftime('%Y-%m', day), julianday(day) FROM orders ORDER BY id",
        "SELECT group_concat(name, ', ') FROM staff",
        "SELECT ifnull(note, 'none'), iif(amount > 0, 'in', 'out'), typeof(amount) FROM orders ORDER BY id",
        "SELECT printf('%05d', id), format('%.2f', amount), hex(note) FROM orders ORDER BY id",
        "SELECT total(amount), max(id, 3), min(id, 3) FROM orders",
        "SELECT name GLOB 'B*', name LIKE 'b%', name COLLATE NOCASE = 'bob' FROM staff ORDER BY id",
        "SELECT json_extract('{\"a\": [1, 2]}', '$.a[1]'), '{\"a\": 1}' -> 'a', '{\"a\": 1}' ->> 'a'",
        "SELECT value FROM json_each('[1, \"b\", null]')",
        "SELECT key, value FROM json_each('{\"a\": 1.5}')",
        "SELECT json_group_array(id), json_object('a', 1), json_array(1, 'x') FROM staff",
        "SELECT instr(name, 'b'), substr(name, -2), ltrim(name, 'A'), char(65, 66) FROM staff ORDER BY id",
        "SELECT 7 / 2, 7 % 3, 7.0 / 2, 1 || 2, 5 & 3, 1 << 4, ~1",
        "SELECT cast('12abc' AS INTEGER), cast(3.9 AS INTEGER), cast(65 AS TEXT)",
        "SELECT typeof(content), length(content), quote(content), unicode('A') FROM flags ORDER BY id",
        "SELECT round(2.5), abs(-3), sign(-2), ceil(1.2), floor(1.8), pow(2, 3), sqrt(16)",
        "SELECT id == 1, id <> 1, id IS NOT NULL, note IS 'first' FROM orders ORDER BY id",
        "SELECT rowid, id FROM orders ORDER BY rowid LIMIT 2",
        "SELECT id FROM main.orders ORDER BY id",
        "SELECT [id], \"note\", `day` FROM [orders] ORDER BY [id]",
        "SELECT count(*) FILTER (WHERE amount > 0) FROM orders",
        "SELECT id, ntile(2) OVER (ORDER BY id), first_value(id) OVER (ORDER BY id DESC) FROM staff ORDER BY id",
        "SELECT date('2025-01-31', '+1 month'), datetime('2025-01-31 10:00'), time('10:00', '+90 minutes')",
        "SELECT unixepoch('1970-01-02'), strftime('%s', '1970-01-02'), date(86400, 'unixepoch')",
        "SELECT 9223372036854775807, 9223372036854775808, x'00ff'",
        "SELECT 1 AS v UNION ALL SELECT 'two' UNION ALL SELECT 3.5 UNION ALL SELECT NULL UNION ALL SELECT x'04'",
        "SELECT likely(id > 1), coalesce(NULL, 2), nullif(1, 1), zeroblob IS NULL FROM (SELECT 1 AS id, 2 AS zeroblob)",
        "SELECT amount FROM orders ORDER BY amount DESC NULLS LAST LIMIT 2",
        "SELECT max(amount), note FROM orders",
        "SELECT replace(word, char(10), '/'), upper(word), length(word) FROM words ORDER BY id",
        "SELECT DISTINCT substr(day, 1, 4) FROM orders ORDER BY 1",
    ],
}  # fmt: skip
