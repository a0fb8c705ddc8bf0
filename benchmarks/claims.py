"""The claims, one module each; each is measured in its own process and on its own servers."""

import importlib
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.figures import Figure
from benchmarks.ground import ground

CLAIMS: Mapping[str, str] = {
    "B1": "benchmarks.measures.b1_wal_per_turn",
    "B2": "benchmarks.measures.b2_restore",
    "B3": "benchmarks.measures.b3_open_session",
    "B4": "benchmarks.measures.b4_lists",
    "B5": "benchmarks.measures.b5_first_token",
    "B6": "benchmarks.measures.b6_cpu",
    "B6-wire": "benchmarks.measures.b6_wire",
    "B7": "benchmarks.measures.b7_turns_per_gb",
    "B8": "benchmarks.measures.b8_recovery",
    "B9": "benchmarks.measures.b9_submits",
    "B10": "benchmarks.measures.b10_viewers",
    "B11": "benchmarks.measures.b11_page_rerun",
    "B12": "benchmarks.measures.b12_under_faults",
    "B13": "benchmarks.measures.b13_tool_turns",
    "B14": "benchmarks.measures.b14_file_queries",
    "B15": "benchmarks.measures.b15_page",
    "B16": "benchmarks.measures.b16_sizes",
}


def measure(claim: str, is_long: bool) -> list[Figure]:
    """Return the figures of a claim, measured in isolation from other claims."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_measure, CLAIMS[claim], is_long).result()


def _measure(module: str, is_long: bool) -> list[Figure]:
    with ground() as measured:
        return list(importlib.import_module(module).measure(measured, is_long))
