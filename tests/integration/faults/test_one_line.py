"""One fault of the network is one line of each process's log, and one when it is over."""

from collections import Counter
from pathlib import Path

from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.stack import Servers

OTHERS = (": turn accepted ", ": No title ")


def test_redis_is_said_once_by_each_process_to_be_away_and_once_to_be_back(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, SWEEP_SECONDS="0.3") as stack:
        # The last word of a worker's start comes after it counts as ready.
        stack.wait_for(lambda: "runs up to" in stack.log.read_text(), "the worker does not start")
        redis, logged = servers.newest_redis, len(stack.log.read_text())
        redis.stop()
        turns = [stack.submit(script({"text": "without it"})) for _ in range(3)]
        for turn in turns:
            assert stack.finished(turn["turn_id"])["status"] == "succeeded"
        redis.start()
        stack.wait_ready()

        def lines() -> list[str]:
            said = stack.log.read_text()[logged:].splitlines()
            return [line for line in said if not any(other in line for other in OTHERS)]

        stack.wait_for(lambda: str(lines()).count("answers again") >= 2, "not said that it is back")

    told = [(line.split()[2], line.partition(": ")[2][:17]) for line in lines()]
    once = [
        (part, said)
        for part in ("api", "worker")
        for said in ("Redis does not an", "Redis answers aga")
    ]
    assert Counter(told) == Counter(once), "\n".join(lines())
