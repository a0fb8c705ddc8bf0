"""Sources as our own DuckDB files: queries read these copies, never a person's files.

A snapshot is built beside its place and moved there atomically, so that processes may race; its
name contains the file's size and time, so that a changed file gets a new snapshot.
"""

import asyncio
import hashlib
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

UNDERSTOOD = "understood.json"
_BUILDING = ".building-"
_ABANDONED_SECONDS = 3600


async def ensure_snapshot(
    cache: Path, name: str, version: str, fill: Callable[[Path], Awaitable[None]]
) -> Path:
    """Return the folder with the snapshot `name` in this version; `fill` creates a missing one."""
    final = cache / f"{name}-{version}"
    if await asyncio.to_thread(final.is_dir):
        return final
    folder = await asyncio.to_thread(_begin, cache)
    try:
        await fill(folder)
        await asyncio.to_thread(_publish, folder, final)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    await asyncio.to_thread(_remove_older, cache, name, final)
    return final


def fingerprint(path: Path) -> str:
    """Return a value that changes with the file's path, size or modification time."""
    status = path.stat()
    text = f"{path.absolute()}|{status.st_size}|{status.st_mtime_ns}|{status.st_ino}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _begin(cache: Path) -> Path:
    cache.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(cache)
    folder = cache / f"{_BUILDING}{uuid4().hex}"
    folder.mkdir()
    return folder


def _publish(folder: Path, final: Path) -> None:
    try:
        folder.rename(final)
    except OSError:
        if not final.is_dir():  # otherwise another process was first, with the same content
            raise


def _remove_abandoned(cache: Path) -> None:
    for folder in cache.glob(f"{_BUILDING}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _remove_older(cache: Path, name: str, newest: Path) -> None:
    for folder in cache.iterdir():
        same_source = folder.name.rpartition("-")[0] == name
        if same_source and folder != newest:
            shutil.rmtree(folder, ignore_errors=True)
