"""What the tests of tools share: the bundled sources with two files, and calls of their tools."""

import asyncio
from uuid import uuid4

import pytest

from backend.auth.scope import LOCAL_USER
from backend.data.sources import Sources
from backend.tools.context import ToolContext
from backend.tools.registry import build_tools


@pytest.fixture(scope="module")
def sources(tmp_path_factory, sandbox):
    home = tmp_path_factory.getbasetemp() / "shared-finance"
    (home / "sources").mkdir(parents=True, exist_ok=True)
    (home / "sources" / "plan.csv").write_text("cc,plan\nCC-1001,1200000\nCC-1002,9\n")
    messy = "Umsätze in €\nTag;amount\n31.08.24;1.234,56\n01.09.24;1,50\nSumme;1.236,06\n"
    (home / "sources" / "messy.csv").write_bytes(messy.encode("cp1252"))
    return Sources(home, {}, sandbox)


@pytest.fixture
def call(sources):
    tools = {
        t.name: t for t in build_tools(None, ToolContext(sources, uuid4(), uuid4(), LOCAL_USER))
    }

    def run(name, **arguments):
        request = {"type": "tool_call", "id": "call_1", "name": name, "args": arguments}
        return asyncio.run(tools[name].ainvoke(request))

    return run
