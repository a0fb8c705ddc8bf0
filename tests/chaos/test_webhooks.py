"""Workers are killed again and again while webhooks are told: each event arrives, in its order."""

import time
from pathlib import Path

import pytest

from tests.chaos.conftest import RunRecord
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.servers.receiver import Receiver
from tests.stack import Servers

SESSIONS, KILLS = 6, 8


@pytest.mark.chaos
@pytest.mark.timeout(600)
def test_killed_workers_lose_no_event(
    servers: Servers, model: ScriptedModel, tmp_path: Path, record: RunRecord
) -> None:
    options = {"LEASE_SECONDS": "2", "SWEEP_SECONDS": "0.3"}
    with Receiver() as receiver, make_stack(servers, model, tmp_path, **options) as stack:
        receiver.answer = lambda _: (time.sleep(0.15), 200)[1]
        hook = {"name": "all", "url": receiver.url}
        assert stack.client.post("/webhooks", json=hook).status_code == 201
        steps = [{"text": f"word {number}", "delay": 0.05} for number in range(3)]
        turns = [stack.submit(script(*steps)) for _ in range(SESSIONS)]
        for _ in range(KILLS):
            stack.start_worker()
            stack.wait_ready()
            told = len(receiver.got)
            stack.wait_for(lambda told=told: len(receiver.got) > told + 1, "nothing is told", 60)
            stack.kill_workers()
            if not stack.query("SELECT FROM webhook_deliveries WHERE status = 'pending'"):
                turns += [stack.submit(script(*steps)) for _ in range(2)]
        stack.start_worker()
        for turn in turns:
            stack.finished(turn["turn_id"], 120)
        pending = "SELECT FROM webhook_deliveries WHERE status = 'pending'"
        stack.wait_for(lambda: not stack.query(pending), "something was lost", 120)
        noted = stack.query(
            "SELECT id::text, conversation_id::text, status FROM webhook_deliveries ORDER BY number"
        )
        saved = stack.query("SELECT count(*) FROM display_messages WHERE turn_id IS NOT NULL")

    first: dict[str, None] = {one.event["id"]: None for one in receiver.got}
    assert {row.status for row in noted} == {"delivered"}
    assert first.keys() == {row.id for row in noted}
    told_of = [one for one in receiver.got if one.event["type"] == "message_added"]
    assert len({one.event["id"] for one in told_of}) == saved[0][0]
    for session_id in {row.conversation_id for row in noted}:
        in_order = [row.id for row in noted if row.conversation_id == session_id]
        of_it = set(in_order)
        assert [one for one in first if one in of_it] == in_order
    again = len(receiver.got) - len(first)
    record.add(
        "SIGKILL of workers that tell webhooks",
        f"- {KILLS} kills: {len(first)} events, none lost, in order; {again} came again",
    )
