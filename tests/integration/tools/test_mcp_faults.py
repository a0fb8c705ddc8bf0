"""A tool server that misbehaves ends its own calls, visibly and soon; never the run."""

import asyncio
import sys
import time

import pytest
from langchain_core.tools import ToolException

from backend.tools.registry import Effect
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_views, make_domain, make_session
from tests.integration.tools.mcp_calls import ask, call_of, opened, talker
from tests.runs import asking, final_state, run, steps
from tests.servers.tool import ToolServer, tool
from tests.servers.wire import WireServer


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"fine"', "fine"),
        ('"half \\ud83d of it"', "half \ufffd of it"),
        ('"not utf-8: \xff"', "not utf-8: \ufffd"),
        ('"nul \\u0000"', "nul \x00"),
    ],
)
def test_a_child_process_may_talk_and_send_what_is_no_text(text, said):
    result, taken = ask(talker(text))

    assert (result.content, result.status) == (said, "success")
    assert taken < 25


def test_an_answer_of_a_child_process_that_is_too_long_ends_the_call():
    template = talker()
    program = template["args"][1].replace('"TEXT"}', "'x' * 70 * 2**20}")

    async def go():
        async with opened(s={**template, "args": ["-c", program]}) as tools:
            return await tools["say"].ainvoke(call_of("say"))

    assert "has broken the connection" in asyncio.run(go()).content


def test_a_result_that_cannot_be_read_ends_its_call_only():
    deep = "[" * 20_000 + "]" * 20_000
    result, taken = ask(talker(deep))

    assert result.status == "error"
    assert "cannot be read" in result.content
    assert "may or may not have taken effect" in result.content
    assert taken < 25


def test_a_name_that_is_listed_twice_is_one_tool_and_one_server_may_be_listed_twice():
    async def go():
        twice = talker(listed=["say", "other", "say"])
        async with opened(a=twice, b=twice) as tools:
            said = await tools["b__say"].ainvoke(call_of("b__say"))
            return list(tools), said.content

    assert asyncio.run(go()) == (["say", "other", "b__say", "b__other"], "fine")


def test_names_that_become_equal_when_they_are_made_fit_stay_distinct():
    long = "n" * 70
    listed = ["a.b", "a b", "a_b", long + "1", long + "2"]

    async def go():
        async with opened(s=talker(listed=listed)) as tools:
            return list(tools)

    names = asyncio.run(go())
    assert len(set(names)) == 5
    assert all(len(name) <= 64 for name in names)


def test_a_tool_says_what_its_effect_is():
    hints = [
        tool("look", readOnlyHint=True),
        tool("put", idempotentHint=True),
        tool("drop", destructiveHint=True),
        tool("silent"),
    ]

    async def go():
        with ToolServer(hints, lambda *_: "x") as server:
            async with opened(s=server.template) as tools:
                return {name: t.effect for name, t in tools.items()}

    assert asyncio.run(go()) == {
        "look": Effect.READ_ONLY,
        "put": Effect.IDEMPOTENT,
        "drop": Effect.ACTS,
        "silent": Effect.ACTS,
    }


def test_a_server_that_was_restarted_is_found_again_by_the_next_call():
    async def go():
        first = ToolServer([tool("say")], lambda *_: "first")
        with first:
            async with opened(s=first.template) as tools:
                said = [await tools["say"].ainvoke(call_of("say"))]
                await asyncio.to_thread(first.stop)
                said.append(await tools["say"].ainvoke(call_of("say")))
                with ToolServer([tool("say")], lambda *_: "second", port=first.port) as second:
                    said += [await tools["say"].ainvoke(call_of("say")) for _ in range(2)]
                    return said, len(second.calls)

    (before, down, *back), calls = asyncio.run(go())
    assert before.content == "first"
    assert down.status == "error"
    assert [result.content for result in back] == ["second", "second"]
    assert calls == 2


def test_a_server_that_has_forgotten_its_session_gets_a_new_one_in_the_same_call():
    async def go():
        first = ToolServer([tool("say")], lambda *_: "first")
        with first:
            async with opened(s=first.template) as tools:
                await asyncio.to_thread(first.stop)
                with ToolServer([tool("say")], lambda *_: "second", port=first.port) as second:
                    result = await tools["say"].ainvoke(call_of("say"))
                    return result, len(second.calls)

    result, calls = asyncio.run(go())
    assert (result.content, calls) == ("second", 1)


def test_a_child_process_that_died_is_started_again_for_the_next_call():
    async def go():
        template = {
            "transport": "stdio",
            "command": sys.executable,
            "args": ["tests/servers/tool.py"],
        }
        async with opened(s=template) as tools:
            died = await tools["die"].ainvoke(call_of("die"))
            return died, await tools["echo"].ainvoke(call_of("echo"))

    died, back = asyncio.run(go())
    assert "may or may not have taken effect" in died.content
    assert back.content == "echo {}"


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("unsaid", "broke off"),
        ("cut", "broke off"),
        ("end", "broke off"),
        ("huge", "more than 64 MB"),
        ("zipped_huge", "more than 64 MB"),
        ("zipped_twice", "compressed in a way that was not asked for"),
        ("garbage", "cannot be read"),
        ("status", "status 500"),
        ("refuse", "says: not today"),
    ],
)
def test_an_answer_over_http_that_never_comes_ends_its_call_at_once(behaviour, said):
    with WireServer(behaviour) as server:
        result, taken = ask(server.template)

    assert result.status == "error"
    assert said in result.content
    assert taken < 25


def test_a_compressed_answer_is_read_although_nobody_asked_for_it():
    with WireServer("zipped") as server:
        result, _ = ask(server.template)

    assert (result.content, result.status) == ("fine", "success")


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
def test_a_server_on_this_machine_is_reached_without_the_proxy(monkeypatch, variable):
    monkeypatch.setenv(variable, "http://127.0.0.1:1")

    with WireServer("zipped") as server:
        result, _ = ask(server.template)

    assert result.content == "fine"


def test_a_stream_for_what_a_server_asks_is_opened_with_the_first_call_only():
    async def go(server, *calls):
        async with opened(s=server.template) as tools:
            for _ in calls:
                assert (await tools["say"].ainvoke(call_of("say", fine=True))).content == "fine"

    with WireServer("cut") as idle:
        asyncio.run(go(idle))
    with WireServer("cut") as used:
        asyncio.run(go(used, 1, 2))

    assert set(idle.methods) == {"POST", "DELETE"}
    assert used.methods.index("GET") < len(used.methods) - 2


@pytest.mark.parametrize("behaviour", ["unsaid", "cut", "status"])
def test_a_call_that_fails_leaves_the_others_of_its_batch_alone(behaviour):
    async def go(server):
        async with opened(s=server.template) as tools:
            late = asyncio.ensure_future(tools["say"].ainvoke(call_of("say", fine=True, late=True)))
            while not server.calls:
                await asyncio.sleep(0.01)
            failed = await tools["say"].ainvoke(call_of("say"))
            server.answer_late.set()
            return await late, failed

    with WireServer(behaviour) as server:
        fine, failed = asyncio.run(go(server))

    assert (fine.content, failed.status) == ("fine", "error")
    assert len(server.calls) == 2


def test_a_server_that_dies_in_the_middle_of_a_run_fails_its_calls_and_not_the_run():
    with ToolServer([tool("say")], lambda *_: "fine") as alive:
        mortal = ToolServer([tool("risk")], lambda *_: "never")

        async def answer(*_):
            mortal._server.should_exit = mortal._server.force_exit = True
            await asyncio.sleep(30)

        mortal._answer = answer
        calls = [{"name": "risk", "id": "r"}, {"name": "say", "id": "s"}]
        script = [{"tools": calls}, {"tools": calls}, {"text": "end"}]
        with mortal, ScriptedModel(script) as model:
            began = time.monotonic()
            events = run(
                model.url,
                asking("go"),
                mcp_servers={"a": alive.template, "m": mortal.template},
            )

    assert time.monotonic() - began < 25
    for batch in (steps(events)[1], steps(events)[3]):
        risk, say = batch.messages
        assert (risk["status"], say["content"]) == ("error", "fine")
    assert final_state(events)["messages"][-1]["content"] == "end"


def test_a_call_that_hangs_is_ended_by_the_tools_time():
    async def answer(*_):
        await asyncio.sleep(30)

    with (
        ToolServer([tool("hang")], answer) as server,
        ScriptedModel([{"tools": [{"name": "hang"}]}, {"text": "end"}]) as model,
    ):
        image = {"mcp_servers": {"s": server.template}, "limits": {"tool_seconds": 1}}
        began = time.monotonic()
        events = run(model.url, asking("go"), **image)

    assert "longer than 1 seconds" in steps(events)[1].messages[0]["content"]
    assert time.monotonic() - began < 25


def test_a_tool_that_is_gone_is_an_error():
    def answer(name, arguments):
        raise ToolException("Unknown tool: gone")

    with ToolServer([tool("gone")], answer) as server:
        gone, _ = ask(server.template, "gone")

    assert (gone.status, gone.content) == ("error", "Unknown tool: gone")


def test_what_becomes_of_names_is_told_to_people_once(stack):
    with ToolServer([tool("say"), tool("say"), tool("get_budget")], lambda *_: "said") as server:
        domain = make_domain(stack, mcp_servers={"a": server.template, "b": server.template})
        session_id = make_session(stack, domain["id"])

        for question in ("first", "second"):
            stack.chat(question, session_id)

        rows, _ = check_views(stack, session_id)
    assert [row["content"]["text"] for row in rows if row["content_type"] == "notice"] == [
        "The tool server a lists say more than once: only the first is used.",
        "The tool server b lists say more than once: only the first is used.",
        "Of the tool server b, say is called b__say, get_budget is called b__get_budget here:"
        " the names are taken or not allowed.",
    ]
