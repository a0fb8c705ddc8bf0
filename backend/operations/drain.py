"""`colloquy drain`: let workers finish their turns and end, and wait until they have."""

import argparse
import math
import socket
import sys
import time
from collections.abc import Sequence

from redis import Redis
from redis.exceptions import RedisError

from backend.configuration import read_settings
from backend.errors.base import AppError
from backend.operations.workers import ask_to_drain, is_asked_to_drain, list_workers
from backend.redis.connecting import connect_redis
from backend.text import counted

LOOK_SECONDS = 0.5


class NoSuchWorker(AppError):
    """No worker of this name is alive."""


def main(arguments: list[str] | None = None) -> int:
    """Drain the named workers, or all of this host; return 0 once they have ended."""
    wanted = _parser().parse_args(arguments)
    try:
        redis = connect_redis(read_settings().redis_url, threads=1)
        names = choose_workers(redis, wanted.workers)
        if not names:
            sys.stdout.write(f"No worker runs on {socket.gethostname()}.\n")
            return 0
        for name in names:
            ask_to_drain(redis, name)
        left = wait_for_end(redis, names, wanted.seconds)
    except AppError as error:
        return _refuse(error.detail)
    except RedisError as error:
        return _refuse(f"Redis does not answer, so no worker can be asked: {error}")
    if left:
        return _refuse(f"Still draining after {wanted.seconds:g} s: {', '.join(sorted(left))}")
    return 0


def choose_workers(redis: Redis, asked: Sequence[str]) -> list[str]:
    """Return the workers asked for, without names all of this host. Raise NoSuchWorker."""
    alive = [worker.name for worker in list_workers(redis)]
    if not asked:
        return [name for name in alive if host_of(name) == socket.gethostname()]
    if unknown := sorted(set(asked) - set(alive)):
        known = f"Alive are: {', '.join(alive)}." if alive else "None is alive."
        raise NoSuchWorker(f"There is no worker {', '.join(unknown)}. {known}")
    return list(dict.fromkeys(asked))


def host_of(name: str) -> str:
    """Return the host that a worker's name begins with, before its process and a random part."""
    return name.rsplit(".", 2)[0]


def wait_for_end(redis: Redis, names: Sequence[str], seconds: float) -> set[str]:
    """Wait until the workers have ended, and say what they still do; return those that have not.

    One that is missing while nobody asks it any more is not gone: Redis has been emptied.
    """
    deadline, left, said = time.monotonic() + seconds, set(names), dict[str, str]()
    while left and time.monotonic() < deadline:
        try:
            turns = {worker.name: worker.turns for worker in list_workers(redis)}
            for name in sorted(left):
                if not is_asked_to_drain(redis, name):
                    ask_to_drain(redis, name)
                elif name not in turns:
                    left.discard(name)
                news = (
                    f"finishes {counted(turns.get(name, 0), 'turn')}" if name in left else "ended"
                )
                _say_once(said, name, news)
        except RedisError:
            _say_once(said, "Redis", "does not answer; waiting for it")
        time.sleep(LOOK_SECONDS)
    return left


def _say_once(said: dict[str, str], subject: str, news: str) -> None:
    if said.get(subject) != news:
        said[subject] = news
        sys.stdout.write(f"{subject} {news}\n")
        sys.stdout.flush()


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="colloquy drain", description=__doc__)
    parser.add_argument(
        "workers",
        nargs="*",
        metavar="WORKER",
        help="a name as on the page Work; otherwise all of this host",
    )
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="how long to wait; they go on draining"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
