"""Database functions that only compute, and alternatives to those that do more.

A function not listed here may be user-defined, and so may do anything. DuckDB is asked for its own
functions (`local.function_names`).
"""

import re
from collections.abc import Mapping

_EVERYWHERE = """
    abs acos all asin atan atan2 avg ceil ceiling char_length character_length coalesce concat
    concat_ws cos cot count cume_dist date datetime degrees dense_rank exp first_value floor
    format greatest group_concat ifnull initcap instr lag last_value lead least length ln log
    log10 log2 lower lpad ltrim max md5 min mod nth_value ntile nullif octet_length percent_rank
    pi position pow power radians random rank regexp_replace regexp_substr replace round
    row_number rpad rtrim sign sin sqrt stddev stddev_pop stddev_samp string_agg substr
    substring sum tan time total trim trunc typeof upper var_pop var_samp variance
"""
_POSTGRES = """
    acosd acosh age any_value area array_agg array_append array_cat array_dims array_length
    array_lower array_ndims array_position array_positions array_prepend array_remove
    array_replace array_reverse array_sample array_shuffle array_sort array_to_json
    array_to_string array_to_tsvector array_upper asind asinh atan2d atand atanh bit_and
    bit_count bit_length bit_or bit_xor bool bool_and bool_or bound_box box bpchar broadcast
    btrim cardinality casefold cash_words cbrt center chr cidr circle clock_timestamp convert
    convert_from convert_to corr cosd cosh cotd covar_pop covar_samp crc32 crc32c date_add
    date_bin date_part date_subtract date_trunc datemultirange daterange decode diagonal
    diameter div encode enum_first enum_last enum_range erf erfc every extract factorial family
    float4 float8 gamma gcd gen_random_uuid get_bit get_byte height host hostmask
    icu_unicode_version inet_merge inet_same_family int2 int4 int4multirange int4range int8
    int8multirange int8range is_normalized isclosed isempty isfinite ishorizontal isopen
    isparallel isperp isvertical json json_agg json_agg_strict json_array json_array_length
    json_arrayagg json_build_array json_build_object json_exists json_extract_path
    json_extract_path_text json_object json_object_agg json_object_agg_strict
    json_object_agg_unique json_object_agg_unique_strict json_objectagg json_populate_record
    json_query json_scalar json_serialize json_strip_nulls json_to_tsvector json_typeof
    json_value jsonb_agg jsonb_agg_strict jsonb_array_length jsonb_build_array
    jsonb_build_object jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object
    jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique
    jsonb_object_agg_unique_strict jsonb_path_exists jsonb_path_exists_tz jsonb_path_match
    jsonb_path_match_tz jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first
    jsonb_path_query_first_tz jsonb_populate_record jsonb_populate_record_valid jsonb_pretty
    jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_tsvector jsonb_typeof justify_days
    justify_hours justify_interval lcm left lgamma line lower_inc lower_inf lseg macaddr
    macaddr8 macaddr8_set7bit make_date make_interval make_time make_timestamp make_timestamptz
    masklen min_scale mode money multirange name netmask network normalize now npoints
    num_nonnulls num_nulls numeric nummultirange numnode numrange overlaps overlay parse_ident
    path pclose percentile_cont percentile_disc pg_column_size pg_size_bytes pg_size_pretty
    pg_typeof phraseto_tsquery plainto_tsquery point polygon popen quote_ident quote_literal
    quote_nullable radius random_normal range_agg range_intersect_agg range_merge regexp_count
    regexp_instr regexp_like regexp_match regexp_matches regexp_split_to_array regr_avgx
    regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reverse
    right row row_to_json scale set_bit set_byte set_masklen setweight sha224 sha256 sha384
    sha512 sind sinh slope split_part statement_timestamp string_to_array strip strpos tand tanh
    text timeofday timestamptz timetz timezone to_ascii to_bin to_char to_date to_hex to_json
    to_jsonb to_number to_oct to_timestamp to_tsquery to_tsvector transaction_timestamp
    translate trim_array trim_scale ts_delete ts_filter ts_headline ts_rank ts_rank_cd
    tsmultirange tsquery_phrase tsrange tstzmultirange tstzrange tsvector_to_array
    unicode_assigned unicode_version unistr upper_inc upper_inf uuid_extract_timestamp
    uuid_extract_version uuidv4 uuidv7 varbit varchar websearch_to_tsquery width width_bucket
    xml_is_well_formed xml_is_well_formed_content xml_is_well_formed_document xmlagg xmlcomment
    xmlconcat xmlexists xmlforest xmltext xpath xpath_exists
"""
# Of extensions that analysts meet: PostGIS, TimescaleDB, pgvector and those of PostgreSQL itself.
_POSTGRES_EXTENSIONS = """
    akeys avals cosine_distance daitch_mokotoff defined difference digest dmetaphone
    dmetaphone_alt earth_distance exist hmac hstore hstore_to_json hstore_to_jsonb icount idx
    inner_product l1_distance l2_distance latitude levenshtein levenshtein_less_equal
    ll_to_earth longitude metaphone show_trgm similarity slice soundex st_area st_asbinary
    st_asewkt st_asgeojson st_astext st_azimuth st_boundary st_buffer st_centroid
    st_closestpoint st_clusterdbscan st_clusterkmeans st_collect st_contains st_convexhull
    st_coveredby st_covers st_crosses st_difference st_dimension st_disjoint st_distance
    st_distancesphere st_distancespheroid st_dwithin st_endpoint st_envelope st_equals st_expand
    st_extent st_geogfromtext st_geohash st_geometryn st_geometrytype st_geomfromgeojson
    st_geomfromtext st_geomfromwkb st_hausdorffdistance st_intersection st_intersects
    st_isclosed st_isempty st_issimple st_isvalid st_length st_lineinterpolatepoint
    st_linelocatepoint st_linemerge st_m st_makeenvelope st_makeline st_makepoint st_makepolygon
    st_makevalid st_maxdistance st_multi st_npoints st_numgeometries st_overlaps st_perimeter
    st_point st_pointn st_pointonsurface st_setsrid st_shortestline st_simplify
    st_simplifypreservetopology st_snaptogrid st_srid st_startpoint st_symdifference st_touches
    st_transform st_translate st_unaryunion st_union st_within st_x st_xmax st_xmin st_y st_ymax
    st_ymin st_z strict_word_similarity subarray time_bucket time_bucket_gapfill unaccent uniq
    uuid_generate_v1 uuid_generate_v4 uuid_generate_v5 vector_dims vector_norm word_similarity
"""
_POSTGRES_TABLES = """
    generate_series generate_subscripts json_array_elements json_array_elements_text json_each
    json_each_text json_object_keys json_populate_recordset json_to_record json_to_recordset
    jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys
    jsonb_path_query jsonb_path_query_tz jsonb_populate_recordset jsonb_to_record
    jsonb_to_recordset regexp_matches regexp_split_to_table string_to_table unnest
"""
_MYSQL = """
    adddate addtime aes_decrypt aes_encrypt any_value ascii bin bin_to_uuid bit_and bit_count
    bit_length bit_or bit_xor char chr coercibility collation column_check column_exists
    column_get column_json column_list compress connection_id conv convert_tz crc32 crc32c
    curdate current_date current_time current_timestamp curtime date_add date_format date_sub
    datediff day dayname dayofmonth dayofweek dayofyear decode_oracle elt export_set extract
    extractvalue field find_in_set format_bytes format_pico_time found_rows from_base64
    from_days from_unixtime get_format grouping hex hour if inet6_aton inet6_ntoa inet_aton
    inet_ntoa insert interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid isnull
    json_array json_array_append json_array_insert json_array_intersect json_arrayagg
    json_compact json_contains json_contains_path json_depth json_detailed json_equals
    json_exists json_extract json_insert json_key_value json_keys json_length json_loose
    json_merge json_merge_patch json_merge_preserve json_normalize json_object
    json_object_filter_keys json_object_to_array json_objectagg json_overlaps json_pretty
    json_query json_quote json_remove json_replace json_schema_valid
    json_schema_validation_report json_search json_set json_storage_free json_storage_size
    json_type json_unquote json_valid json_value last_day last_insert_id lcase left lengthb
    linestring localtime localtimestamp locate make_set makedate maketime mbrcontains mbrwithin
    median microsecond mid minute month monthname name_const natural_sort_key now nvl nvl2 oct
    ord percentile_cont percentile_disc period_add period_diff point polygon quarter quote rand
    random_bytes regexp_instr regexp_like reverse right row_count sec_to_time second sformat sha
    sha1 sha2 soundex space st_area st_asgeojson st_astext st_aswkt st_buffer st_centroid
    st_contains st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance
    st_distance_sphere st_endpoint st_envelope st_equals st_geohash st_geometrytype
    st_geomfromgeojson st_geomfromtext st_intersection st_intersects st_isempty st_issimple
    st_isvalid st_latitude st_length st_longitude st_makeenvelope st_numpoints st_overlaps
    st_pointfromtext st_simplify st_srid st_startpoint st_symdifference st_touches st_transform
    st_union st_within st_x st_y std str_to_date strcmp subdate substring_index subtime sys_guid
    sysdate time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64
    to_char to_days to_number to_seconds truncate ucase uncompress uncompressed_length unhex
    unix_timestamp updatexml utc_date utc_time utc_timestamp uuid uuid_short uuid_to_bin week
    weekday weekofyear weight_string year yearweek user
"""
_SQLITE = """
    acosh asinh atanh changes char concat cosh current_date current_time current_timestamp date
    glob hex iif json json_array json_array_length json_error_position json_extract
    json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote
    json_remove json_replace json_set json_type json_valid jsonb jsonb_array jsonb_extract
    jsonb_group_array jsonb_group_object jsonb_object julianday last_insert_rowid like
    likelihood likely match median percentile percentile_cont percentile_disc printf quote sinh
    soundex sqlite_version strftime substring tanh timediff total_changes unhex unicode unistr
    unixepoch unlikely
"""
_ORACLE = """
    add_months ascii bitand chr corr covar_pop covar_samp current_date decode dump empty_clob
    extract from_tz group_id grouping grouping_id hextoraw json_array json_arrayagg json_exists
    json_object json_objectagg json_query json_value last_day lengthb listagg lnnvl
    localtimestamp max median min months_between nanvl new_time next_day nls_lower nls_upper
    nlssort numtodsinterval numtoyminterval nvl nvl2 ora_hash percentile_cont percentile_disc
    ratio_to_report rawtohex regexp_count regexp_instr regexp_like regr_avgx regr_avgy
    regr_count regr_intercept regr_r2 regr_slope remainder stats_mode sys_connect_by_path
    sys_extract_utc sys_guid sysdate systimestamp to_char to_clob to_date to_dsinterval
    to_number to_single_byte to_timestamp to_timestamp_tz to_yminterval translate tz_offset
    vsize width_bucket wm_concat xmlagg
"""

HARMLESS: Mapping[str, frozenset[str]] = {
    "postgres": frozenset(
        f"{_EVERYWHERE} {_POSTGRES} {_POSTGRES_EXTENSIONS} {_POSTGRES_TABLES}".split()
    ),
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
    |parquet_|arrow_|pandas_|python_|sniff_|fts3_|sqlite_(?!version$)|sys_(?!extract_utc$|guid$|connect_by_path$)|xp_|utl_
    |dbms_|load_|json_execute|json_(de)?serialize_|which_|write_|__internal|has_|inet_(client|server)
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
