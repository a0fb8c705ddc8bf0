"""What stands in the queue's Redis is data: a worker runs its one job, and drops all else."""

import json
import pickle
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from redis import Redis

from backend.turns.process.turn_job import JOB
from backend.types import JSON
from tests.fakes import script
from tests.stack import Stack

QUEUE, PREFIX = "rq:queue:turns", "rq:job:"


@pytest.fixture
def redis(patient_stack: Stack) -> Iterator[Redis]:
    with Redis.from_url(patient_stack.redis_url) as client:
        yield client


class Bomb:
    """Pickled, it makes a file where it is read."""

    def __init__(self, canary: Path) -> None:
        self._canary = canary

    def __reduce__(self) -> tuple:
        return Path.touch, (self._canary,)


def calling(*called: object) -> bytes:
    return zlib.compress(json.dumps(called).encode())


def hostile(canary: Path) -> dict[str, JSON]:
    """Jobs by their names: what each stores beside what RQ asks for."""
    touch = f"touch {canary}"
    eval_ = f"open({str(canary)!r}, 'w')"

    def own(**fields: object) -> tuple[str, JSON]:
        job_id = str(uuid4())
        return job_id, {"data": calling(JOB, None, [job_id], {}), **fields}

    webhook = json.dumps([{"url": "http://127.0.0.1:9/", "statuses": ["finished"]}])
    return dict(
        [
            (str(uuid4()), {"data": calling("os.system", None, [touch], {})}),
            (str(uuid4()), {"data": calling("builtins.eval", None, [eval_], {})}),
            (str(uuid4()), {"data": calling("antigravity.fly", None, [], {})}),
            (str(uuid4()), {"data": calling(JOB, None, [touch], {})}),
            (str(uuid4()), {"data": calling(JOB, None, [str(uuid4())], {})}),
            (str(uuid4()), {"data": calling(JOB, "os", [], {})}),
            (str(uuid4()), {"data": calling(JOB, None, [], {"turn_id": str(uuid4())})}),
            (str(uuid4()), {"data": zlib.compress(pickle.dumps(Bomb(canary)))}),
            (str(uuid4()), {"data": pickle.dumps(("os.system", None, (touch,), {}))}),
            (str(uuid4()), {"data": b"\x00garbage"}),
            (str(uuid4()), {"data": zlib.compress(b"[" * 100_000)}),
            (str(uuid4()), {"data": b"x" * 20_000_000}),
            (str(uuid4()), {f"field{n}": n for n in range(1_000)}),
            ("../../etc", {"data": calling("os.system", None, [touch], {})}),
            ("turn", {"data": calling("os.system", None, [touch], {})}),
            own(success_callback_name="subprocess.run"),
            own(failure_callback_name="os.system", retries_left=3),
            own(stopped_callback_name="os.system"),
            own(dependency_ids=json.dumps([str(uuid4())])),
            own(repeats_left=5, repeat_intervals="[0]"),
            own(meta=pickle.dumps(Bomb(canary))),
            own(webhooks=webhook),
            own(timeout="forever"),
            own(created_at="yesterday"),
            own(status="odd"),
        ]
    )


def put(redis: Redis, job_id: str, fields: JSON) -> None:
    now = datetime.now(UTC).isoformat()
    usual = {"created_at": now, "enqueued_at": now, "origin": "turns", "status": "queued"}
    redis.hset(f"{PREFIX}{job_id}", mapping={**usual, **fields})
    redis.rpush(QUEUE, job_id)


def test_hostile_jobs_are_dropped_and_an_ordinary_turn_runs_after_them(
    patient_stack: Stack, redis: Redis, tmp_path: Path
) -> None:
    stack, canary = patient_stack, tmp_path / "canary"
    jobs = hostile(canary)
    for job_id, fields in jobs.items():
        put(redis, job_id, fields)
    redis.rpush(QUEUE, b"\xff\xfe", b"x" * 1_000_000, str(uuid4()))
    odd_kind = str(uuid4())
    redis.set(f"{PREFIX}{odd_kind}", "no hash")
    redis.rpush(QUEUE, odd_kind)

    answer = stack.chat(script({"text": "still here"}))

    assert answer["response"] == "still here"
    stack.wait_for(lambda: redis.llen(QUEUE) == 0, "jobs are left")
    assert not canary.exists()
    said = stack.log.read_text()
    assert said.count("is dropped") >= len(jobs)
    assert "Traceback" not in said and "antigravity" not in said
    assert not [key for job_id in jobs if redis.exists(key := f"{PREFIX}{job_id}")]


@pytest.mark.chaos
def test_what_rq_tidies_up_calls_nothing_and_stops_nobody(
    patient_stack: Stack, redis: Redis, tmp_path: Path
) -> None:
    stack, canary = patient_stack, tmp_path / "canary"
    jobs = hostile(canary)
    for job_id, fields in jobs.items():
        put(redis, job_id, fields)
        redis.lrem(QUEUE, 1, job_id)
        redis.zadd("rq:wip:turns", {f"{job_id}:{uuid4().hex}": 1})
        redis.rpush(f"{QUEUE}:intermediate", job_id)
    redis.zadd("rq:wip:turns", {b"\xff\xfe": 1})
    redis.rpush(f"{QUEUE}:intermediate", b"\xff\xfe")
    redis.set("rq:suspended", 1)
    redis.delete("rq:clean_registries:turns")

    stack.restart_worker()

    assert stack.chat(script({"text": "still here"}))["response"] == "still here"
    assert not canary.exists()


@pytest.mark.chaos
@pytest.mark.parametrize("key", [QUEUE, f"{QUEUE}:intermediate", "rq:workers", "rq:wip:turns"])
def test_turns_run_where_a_key_of_the_queue_is_of_another_kind(
    patient_stack: Stack, redis: Redis, key: str
) -> None:
    redis.delete(key)
    redis.set(key, "no list")

    turn = patient_stack.submit(script({"text": "still here"}))

    assert patient_stack.finished(turn["turn_id"], seconds=60)["status"] == "succeeded"
