"""The claims, one module each, and how one is measured: in a process and on servers of its own."""

import importlib
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.figures import Figure
from benchmarks.ground import ground

CLAIMS: Mapping[str, str] = {
    "B1": "benchmarks.b1_wal_per_turn",
    "B2": "benchmarks.b2_restore",
    "B3": "benchmarks.b3_open_session",
    "B5": "benchmarks.b5_first_token",
    "B6": "benchmarks.b6_cpu",
    "B6-wire": "benchmarks.b6_wire",
    "B7": "benchmarks.b7_turns_per_gb",
    "B8": "benchmarks.b8_recovery",
    "B9": "benchmarks.b9_submits",
    "B10": "benchmarks.b10_viewers",
    "B11": "benchmarks.b11_page_rerun",
    "B12": "benchmarks.b12_under_faults",
    "B13": "benchmarks.b13_tool_turns",
    "B14": "benchmarks.b14_file_queries",
}


def measure(claim: str, is_long: bool) -> list[Figure]:
    """The figures of a claim; no claim is warmed up or held back by another."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_measure, CLAIMS[claim], is_long).result()


def _measure(module: str, is_long: bool) -> list[Figure]:
    with ground() as measured:
        return list(importlib.import_module(module).measure(measured, is_long))
