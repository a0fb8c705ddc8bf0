"""The modules that the sandbox's supervisor imports for its children: readers and drivers."""

import psycopg2  # noqa: F401 - imported for its children
import pyarrow.compute
import pyarrow.parquet  # noqa: F401
import pymysql  # noqa: F401
import python_calamine  # noqa: F401
import sqlalchemy.dialects.mysql.pymysql
import sqlalchemy.dialects.postgresql.psycopg2
import sqlalchemy.dialects.sqlite.pysqlite  # noqa: F401
import sqlglot

from backend.data import profile, questions, result_comparison  # noqa: F401
from backend.data.engines.local import function_names
from backend.data.files import readers, uploads  # noqa: F401
from backend.data.finance import build  # noqa: F401

# The parser imports a dialect's module when it is first named.
for _dialect in ("duckdb", "postgres", "mysql", "sqlite"):
    sqlglot.parse_one("SELECT 1", dialect=_dialect)
function_names()  # cached now; its connection and threads end before any fork
