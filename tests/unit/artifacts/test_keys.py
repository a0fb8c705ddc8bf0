"""For whom the sandbox works when artifacts are read, changed and downloaded."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from backend.artifacts.documents.service import Documents
from backend.artifacts.pages import Pages
from backend.artifacts.service import Artifacts
from backend.auth.scope import Scope

ANNA = Scope("anna")
ROW: Any = SimpleNamespace(version=1, title="t", preview={"rows": [], "total_rows": 9})


class Asked(Exception):
    """Ends the work at the sandbox."""


class Recorder:
    """A sandbox that notes the key of each request and does nothing."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def run(self, *_: Any, key: str = "", **bounds: Any) -> None:
        self.keys.append(key)
        raise Asked


class Files:
    """Contents that are there already."""

    async def open(self, row: Any, work: Any) -> Any:
        return await work(Path("content"), Path())

    async def localize(self, row: Any, folder: Path) -> Path:
        return folder

    async def text(self, row: Any) -> str:
        return ""

    def fetch(self, row: Any, place: Path) -> Path:
        return place


def requests(recorder: Recorder) -> list[Any]:
    contents = cast(Any, SimpleNamespace(new_folder=Path))
    artifacts = Artifacts(cast(Any, None), contents, cast(Any, recorder))
    artifacts.files = cast(Any, Files())
    documents = Documents(cast(Any, None), cast(Any, recorder), artifacts, "")
    return [
        lambda: Pages(cast(Any, Files()), cast(Any, recorder)).rows(ANNA, ROW, 0, 5),
        lambda: artifacts.write_rows(ANNA, cast(Any, None), Path()),
        lambda: artifacts._different(ANNA, "table", (ROW, ROW), ()),
        lambda: artifacts._different(ANNA, "document", (ROW, ROW), ()),
        lambda: artifacts._form(ANNA, "table", "csv", ROW, Path(), {}),
        lambda: artifacts._form(ANNA, "table", "xlsx", ROW, Path(), {}),
        lambda: documents._drawn(ANNA, cast(Any, {"place": "source"})),
    ]


@pytest.mark.parametrize("number", range(7))
def test_work_on_an_artifact_counts_as_the_callers(number: int) -> None:
    recorder = Recorder()

    with pytest.raises(Asked):
        asyncio.run(requests(recorder)[number]())

    assert recorder.keys == ["anna"]
