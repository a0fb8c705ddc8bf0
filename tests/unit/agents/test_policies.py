import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException
from langgraph.errors import GraphInterrupt

from backend.agents.answers import Answers
from backend.agents.middleware.approvals import LONGEST_PATTERN, MOST_RULES, Approvals
from backend.agents.middleware.registry import (
    MIDDLEWARE,
    build_middleware,
    check_middleware_names,
    find_settings,
)
from backend.agents.middleware.shortening.recent_messages import find_cut
from backend.agents.middleware.tool_guard import ToolGuard
from backend.agents.steps.tool_results import MAX_RESULT_CHARS
from backend.errors.base import InvalidInput
from backend.errors.conversations import ResultNotFound
from backend.schemas.bounds import YEAR_SECONDS
from backend.tools.journal import NoJournal
from tests.patience import ends_within
from tests.runs import TURN_ID

NO_CONTEXT = None  # for policies that need nothing of it
CALL = {"name": "t", "args": {}, "id": "c", "type": "tool_call"}
TOOL = StructuredTool.from_function(lambda: None, name="t", description="t")
REQUEST = ToolCallRequest(tool_call=CALL, tool=TOOL, state={}, runtime=None)
KINDS = {"u": HumanMessage("x"), "a": AIMessage("x"), "t": ToolMessage("x", tool_call_id="c")}


def guard(outcome):
    async def handler(_request):
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return asyncio.run(ToolGuard(NoJournal(), TURN_ID, 60).awrap_tool_call(REQUEST, handler))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ToolException("no such account"), "no such account"),
        (ValueError("n must be positive"), "n must be positive"),
        (ResultNotFound(), "There is no such stored result, or its session was deleted."),
        (RuntimeError("/etc/secret in line 3"), "The tool t failed (RuntimeError)."),
        (ValueError("postgresql://me:pass@host/db is down"), "postgresql://…@host/db is down"),
        (ValueError(""), "The tool t failed (ValueError)."),
    ],
)
def test_a_tools_failure_becomes_a_readable_error_result(error, said):
    result = guard(error)

    assert (result.content, result.status, result.tool_call_id) == (said, "error", "c")
    assert result.id


def test_an_interrupt_is_no_failure():
    with pytest.raises(GraphInterrupt):
        guard(GraphInterrupt())


@pytest.mark.parametrize("error", [asyncio.CancelledError(), SystemExit(3), KeyboardInterrupt()])
def test_a_tool_that_ends_its_task_or_process_ends_neither(error):
    assert guard(error).content == "The tool t ended itself without a result."


def test_a_result_is_clean_and_has_an_id_of_its_own():
    artifact = {"rows": [[float("nan")]]}
    result = guard(ToolMessage("a\x00", tool_call_id="c", artifact=artifact))

    assert result.content == "a\u2400"
    assert result.artifact == {"rows": [["NaN"]]}
    assert result.id != guard(ToolMessage("b", tool_call_id="c")).id


def test_a_huge_result_is_cut_and_says_so():
    result = guard(ToolMessage("x" * (MAX_RESULT_CHARS + 1), tool_call_id="c"))

    assert len(result.content) < MAX_RESULT_CHARS + 100
    assert result.content.endswith(f"[cut here: the result has {MAX_RESULT_CHARS + 1} characters]")


@given(st.text("uat", min_size=1, max_size=40), st.integers(1, 20))
def test_the_cut_is_at_a_persons_message_or_nowhere(kinds, keep):
    cut = find_cut([KINDS[kind] for kind in kinds], keep)

    assert cut == 0 or kinds[cut] == "u"
    within = kinds[max(len(kinds) - keep, 0) :]
    if "u" in within:
        assert len(kinds) - cut <= keep
    else:
        assert "u" not in kinds[cut + 1 :]


def test_policies_are_built_by_name_in_order_with_their_settings():
    (policy,) = build_middleware([{"recent_messages": {"trigger": 5, "keep": 2}}], NO_CONTEXT)

    assert policy.name == "RecentMessages"
    assert all(name in MIDDLEWARE for name in ("recent_messages",))


def test_the_tools_that_policies_bring_are_known_before_they_are_built():
    for name, spec in MIDDLEWARE.items():
        if spec.brings:
            (policy,) = build_middleware([name], NO_CONTEXT)
            assert {tool.name for tool in policy.tools} == set(spec.brings)


@pytest.mark.parametrize(
    "named",
    [
        ["no_such"],
        [{"recent_messages": {"keep": 0}}],
        [{"recent_messages": {"unknown": 1}}],
        [{"recent_messages": {"trigger": 5, "keep": 6}}],
        [{"recent_messages": 3}],
        [{}],
        [{"recent_messages": {}, "other": {}}],
        ["recent_messages", "recent_messages"],
    ],
)
def test_an_unknown_policy_or_a_wrong_setting_is_refused(named):
    with pytest.raises(InvalidInput):
        check_middleware_names(named)


def test_a_rule_that_was_stored_without_a_bound_waits_a_year_at_most():
    rule = {"tools": "*", "action": "ask", "expires_seconds": 10**12}
    named = [{"approvals": {"rules": [rule]}}]

    (read,) = find_settings(named, "approvals").rules

    assert read.expires_seconds == YEAR_SECONDS
    with pytest.raises(InvalidInput, match="expires_seconds"):
        check_middleware_names(named)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            {"action": "deny", "expires_seconds": 60, "decisions": ["respond"]},
            "ask uses decisions and expires_seconds; remove that, or set action to ask",
        ),
        ({"action": "allow", "description": "x"}, "ask uses description"),
        ({"action": "ask", "decisions": ["approve", "approve"]}, "a decision is named twice"),
    ],
)
def test_a_rules_setting_without_effect_is_refused_but_read_where_it_was_stored(rule, said):
    named = [{"approvals": {"rules": [{"tools": "*", **rule}]}}]

    (read,) = find_settings(named, "approvals").rules

    assert read.action == rule["action"]
    with pytest.raises(InvalidInput, match=said):
        check_middleware_names(named)


def test_a_rule_that_asks_nobody_may_say_so_with_null():
    rule = {"tools": "*", "action": "deny", "expires_seconds": None, "description": None}

    check_middleware_names([{"approvals": {"rules": [rule]}}])


def approvals(count, pattern):
    rules = [{"tools": f"{n}{pattern}"[:LONGEST_PATTERN], "action": "ask"} for n in range(count)]
    (settings,) = [find_settings([{"approvals": {"rules": rules}}], "approvals")]
    return Approvals(settings, Answers())


@pytest.mark.parametrize("pattern", ["[" * 1_000, "*a" * 500, "*[a" * 400])
def test_a_call_is_judged_in_time_however_its_rules_are_written(pattern):
    policy = approvals(MOST_RULES, pattern)

    with ends_within(20):
        assert not policy.asks("a" * 128)


def test_more_rules_than_can_be_judged_in_time_are_refused():
    with pytest.raises(InvalidInput, match="at most 100 items"):
        approvals(MOST_RULES + 1, "a")
    with pytest.raises(InvalidInput, match="at most 200 characters"):
        find_settings(
            [{"approvals": {"rules": [{"tools": "[" * 201, "action": "ask"}]}}], "approvals"
        )
