"""B14: a query on a file of 300,000 rows ÷ the same query in plain DuckDB.

Plain DuckDB has read the table into its own database file; ours is queried as by a tool, in a child
of the sandbox.
"""

import asyncio
import csv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from backend.data.results import Limits
from backend.data.sources import PRELOADED, Sources
from backend.sandbox.sandbox import Sandbox
from benchmarks.figures import Figure, Samples, Target, number
from benchmarks.ground import Ground

ROWS = 300_000
RUNS = 15
QUESTION = (
    "SELECT region, month, count(*), sum(amount), avg(amount), count(DISTINCT customer), "
    "quantile_cont(amount, 0.9) FROM sales GROUP BY ALL ORDER BY ALL"
)


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with TemporaryDirectory() as home:
        path = Path(home) / "sources" / "sales.csv"
        path.parent.mkdir()
        _write(path)
        plain, first, ours = Samples(), Samples(), Samples()
        with duckdb.connect(str(Path(home) / "plain.duckdb")) as connection:
            reading = Samples()
            reading.add(lambda: connection.execute(f"CREATE TABLE sales AS FROM '{path}'"))
            for _ in range(RUNS):
                plain.add(lambda: connection.sql(QUESTION).fetchall())
        sandbox = Sandbox(PRELOADED)
        sources = Sources(Path(home), {}, sandbox)

        def ask() -> None:
            asyncio.run(sources.query("benchmark", "sales", QUESTION, Limits()))

        first.add(ask)
        for _ in range(RUNS):
            ours.add(ask)
        sandbox.close()
    yield Figure(
        "B14",
        "a query on 300,000 rows ÷ plain DuckDB",
        str(ours),
        str(plain),
        ours.median / plain.median,
        Target(3, 2),
    )
    yield Figure(
        "B14",
        "the first query, which reads the file",
        f"{number(first.median)} ms",
        f"{number(reading.median)} ms to read",
    )


def _write(path: Path) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["customer", "region", "month", "amount", "note"])
        writer.writerows(
            (n % 7919, f"region {n % 13}", n % 12 + 1, f"{n * 7 % 100_003 / 100:.2f}", f"order {n}")
            for n in range(ROWS)
        )
