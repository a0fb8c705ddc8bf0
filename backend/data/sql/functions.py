"""Database functions that only compute, and alternatives to those that do more.

A function not listed here may be user-defined, and so may do anything. DuckDB is asked for its own
functions (`local.function_names`).
"""

import re
from collections.abc import Mapping

_EVERYWHERE = """
    abs acos asin atan atan2 avg ceil ceiling char_length character_length coalesce concat concat_ws
    cos cot count cume_dist date datetime degrees dense_rank exp first_value floor format greatest
    group_concat ifnull initcap instr lag last_value lead least length ln log log10 log2 lower lpad
    ltrim max md5 min mod nth_value ntile nullif octet_length percent_rank pi position pow power
    radians random rank regexp_replace regexp_substr replace round row_number rpad rtrim sign sin
    sqrt stddev stddev_pop stddev_samp string_agg substr substring sum tan time total trim trunc
    typeof upper var_pop var_samp variance
"""
_POSTGRES = """
    acosd acosh age any_value area array_agg array_append array_cat array_dims array_length
    array_lower array_ndims array_position array_positions array_prepend array_remove array_replace
    array_reverse array_shuffle array_sample array_sort array_to_json array_to_string array_upper
    asind asinh atan2d atand atanh bit_and bit_count bit_length bit_or bit_xor bool_and bool_or
    bound_box box broadcast btrim cardinality casefold cbrt center chr circle clock_timestamp
    convert_from convert_to corr cosd cosh cotd covar_pop covar_samp crc32 crc32c date_add date_bin
    date_part date_subtract date_trunc datemultirange daterange decode diagonal diameter div encode
    enum_first enum_last enum_range erf erfc every extract factorial family gamma gcd
    gen_random_uuid get_bit get_byte height host hostmask inet_merge inet_same_family int4multirange
    int4range int8multirange int8range is_normalized isclosed isempty isfinite isopen json_agg
    json_agg_strict json_array_length json_build_array json_build_object json_extract_path
    json_extract_path_text json_object json_object_agg json_object_agg_strict
    json_object_agg_unique json_strip_nulls json_typeof jsonb_agg jsonb_agg_strict
    jsonb_array_length jsonb_build_array jsonb_build_object jsonb_extract_path
    jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_agg jsonb_object_agg_strict
    jsonb_object_agg_unique jsonb_path_exists jsonb_path_exists_tz jsonb_path_match
    jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first
    jsonb_path_query_first_tz jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_typeof
    justify_days justify_hours justify_interval lcm left lgamma line lower_inc lower_inf lseg
    make_date make_interval make_time make_timestamp make_timestamptz masklen min_scale mode
    multirange netmask network normalize now npoints pg_column_size pg_size_bytes pg_size_pretty
    pg_typeof num_nonnulls num_nulls numnode nummultirange
    numrange overlay parse_ident path pclose percentile_cont percentile_disc
    phraseto_tsquery plainto_tsquery point polygon popen quote_ident quote_literal quote_nullable
    radius random_normal range_agg range_intersect_agg range_merge regexp_count regexp_instr
    regexp_like regexp_match regexp_matches regexp_split_to_array regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reverse right row row_to_json scale
    setweight sha224 sha256 sha384 sha512 sind sinh slope split_part
    statement_timestamp string_to_array strip strpos tand tanh timeofday timezone to_ascii to_bin
    to_char to_date to_hex to_json to_jsonb to_number to_oct to_timestamp to_tsquery to_tsvector
    transaction_timestamp translate trim_array trim_scale ts_delete ts_filter ts_headline ts_rank
    ts_rank_cd tsmultirange tsrange tstzmultirange tstzrange unaccent unistr upper_inc upper_inf
    uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 websearch_to_tsquery width
    width_bucket similarity word_similarity levenshtein soundex metaphone difference
"""
_POSTGRES_TABLES = """
    generate_series generate_subscripts json_array_elements json_array_elements_text json_each
    json_each_text json_object_keys json_to_record json_to_recordset jsonb_array_elements
    jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys jsonb_path_query
    jsonb_to_record jsonb_to_recordset regexp_matches regexp_split_to_table string_to_table unnest
"""
_MYSQL = """
    adddate addtime any_value ascii bin bit_and bit_count bit_length bit_or bit_xor char chr
    coercibility collation compress conv convert_tz crc32 curdate current_date current_time
    current_timestamp curtime date_add date_format date_sub datediff day dayname dayofmonth
    dayofweek dayofyear decode_oracle elt export_set extract extractvalue field find_in_set
    format_bytes format_pico_time from_base64 from_days from_unixtime get_format grouping hex hour
    if inet6_aton inet6_ntoa inet_aton inet_ntoa insert interval is_ipv4 is_ipv4_compat
    is_ipv4_mapped is_ipv6 is_uuid isnull json_array json_array_append json_array_insert
    json_array_intersect json_arrayagg json_compact json_contains json_contains_path json_depth
    json_detailed json_equals json_exists json_extract json_insert json_key_value json_keys
    json_length json_loose json_merge json_merge_patch json_merge_preserve json_normalize
    json_object json_object_filter_keys json_object_to_array json_objectagg json_overlaps
    json_pretty json_query json_quote json_remove json_replace json_schema_valid json_search
    json_set json_storage_size json_type json_unquote json_valid json_value last_day lcase left
    lengthb locate localtime localtimestamp make_set makedate maketime median microsecond mid minute
    month monthname natural_sort_key now nvl nvl2 oct ord percentile_cont percentile_disc period_add
    period_diff quarter quote rand regexp_instr regexp_like reverse right sec_to_time second sha
    sha1
    sha2 soundex space st_area st_asgeojson st_astext st_aswkt st_contains st_distance
    st_distance_sphere st_intersects st_isvalid st_length st_within st_x st_y std str_to_date strcmp
    subdate substring_index subtime sysdate time_format time_to_sec timediff timestamp timestampadd
    timestampdiff to_base64 to_char to_days to_number to_seconds truncate ucase uncompress unhex
    unix_timestamp utc_date utc_time utc_timestamp uuid uuid_to_bin bin_to_uuid week weekday
    weekofyear weight_string year yearweek
"""
_SQLITE = """
    acosh asinh atanh char changes concat cosh current_date current_time current_timestamp date
    glob hex iif json json_array json_array_length json_error_position json_extract
    json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote
    json_remove json_replace json_set json_type json_valid jsonb jsonb_array jsonb_extract
    jsonb_group_array jsonb_group_object jsonb_object julianday like likelihood likely match
    median percentile percentile_cont percentile_disc printf quote sinh soundex sqlite_version
    strftime substring tanh timediff unhex unicode unistr unixepoch unlikely
"""
_ORACLE = """
    add_months ascii bitand chr decode dump extract from_tz hextoraw json_arrayagg json_exists
    json_object json_objectagg json_query json_value last_day listagg lnnvl median months_between
    nanvl new_time next_day nlssort numtodsinterval numtoyminterval nvl nvl2 ora_hash rawtohex
    regexp_count regexp_instr regexp_like remainder sys_extract_utc sysdate systimestamp to_char
    to_clob to_date to_dsinterval to_number to_timestamp to_timestamp_tz to_yminterval translate
    width_bucket
"""

HARMLESS: Mapping[str, frozenset[str]] = {
    "postgres": frozenset(f"{_EVERYWHERE} {_POSTGRES} {_POSTGRES_TABLES}".split()),
    "mysql": frozenset(f"{_EVERYWHERE} {_MYSQL}".split()),
    "sqlite": frozenset(f"{_EVERYWHERE} {_SQLITE} json_each json_tree".split()),
    "oracle": frozenset(f"{_EVERYWHERE} {_ORACLE}".split()),
    "duckdb": frozenset(("json_each", "json_tree")),
}
# Table functions that may appear in FROM, besides the parser's own node types.
IN_FROM: Mapping[str, frozenset[str]] = {
    "postgres": frozenset(_POSTGRES_TABLES.split()),
    "sqlite": frozenset(("json_each", "json_tree")),
    "duckdb": frozenset(("json_each", "json_tree")),
}

# Functions that read files, settings or server data, run SQL from text, wait, or keep state.
FORBIDDEN = re.compile(
    r"""(pg_(?!typeof$|size_pretty$|size_bytes$|column_size$)|lo_|dblink|duckdb_|pragma_|read_
    |parquet_|arrow_|pandas_|python_|sniff_|fts3_|sqlite_(?!version$)|sys_(?!extract_utc$)|xp_|utl_
    |dbms_|load_|json_execute|json_(de)?serialize|which_|write_|__internal|has_|inet_(client|server)
    |query$|query_table$|getenv$|getvariable$|setseed$|nextval$|setval$|currval$|lastval$
    |set_config$|current_setting$|current_query|sleep|benchmark$|get_lock$|readfile$|writefile$
    |edit$|to_file$|secret$|next_value_for$|seq_scan$|checkpoint$|force_checkpoint$
    |(query|table|cursor|database|schema)_to_xml|test_|txid_|in_search_path$)""",
    re.IGNORECASE | re.VERBOSE,
)
_INSTEAD = (
    (r"(nextval|setval|currval|lastval|next_value)", "Number rows with row_number() OVER (…)."),
    (r"(query|json_(execute|serialize|deserialize)|dblink|.*_to_xml)", "Write that query itself."),
    (r"(read|parquet|sniff|load|pg_read|pg_ls|write|edit|to_file|lo_|arrow|pandas|python)",
     "Files are sources of their own: list_sources lists them, and so does the page Data."),
    (r"(duckdb|pragma|sqlite|pg|has|in_search)_",
     "describe_source lists tables and columns, and so does the page Data."),
    (r"(getenv|getvariable|set_config|current_setting|setseed)", "Write the value itself."),
)  # fmt: skip


def refusal(name: str) -> str:
    """Return why a function is forbidden, and what to write instead."""
    hints = (hint for pattern, hint in _INSTEAD if re.match(pattern, name))
    return (
        f"The function {name} is not allowed in queries, which only read tables and compute. "
        f"{next(hints, 'Leave it out.')}"
    )
