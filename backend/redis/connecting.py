"""The client of Redis, the same for all parts: of one server, or of the master of Sentinels."""

from collections.abc import Mapping
from typing import Any

from redis import Redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry
from redis.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)

from backend.errors.base import ConfigurationError
from backend.redis.retry import TellingRetry
from backend.redis.url import SentinelUrl, is_sentinel_url, read_sentinel_url

REDIS_TIMEOUT_SECONDS = 3
SENTINEL_TIMEOUT_SECONDS = 0.5  # of each; while several are away, one call asks them all
SPARE_CONNECTIONS = 50


class SentinelsHang(RedisTimeoutError):
    """No Sentinel answered in time."""


class SentinelsRefuse(MasterNotFoundError):
    """Each Sentinel that answered refused to, or knows no such master."""


def connect_redis(url: str, threads: int, seconds: float = REDIS_TIMEOUT_SECONDS) -> Redis:
    """Return a client with short timeouts: all callers can continue without Redis.

    A broken connection is retried, because an idle one may be stale; a timeout is not. Each thread
    may wait for a job on one connection and send its heartbeat on another.
    Raise ValueError for a Sentinel URL that cannot be read.
    """
    options: dict[str, Any] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": 1,
        "retry": TellingRetry(ExponentialBackoff(cap=0.2, base=0.05), 1, (ConnectionLost,)),
        "health_check_interval": 15,
        "max_connections": 2 * threads + SPARE_CONNECTIONS,
    }
    if is_sentinel_url(url):
        named = read_sentinel_url(url)
        return _Sentinels(named).connect(
            named.service, named.is_encrypted, {**options, **named.options}
        )
    return Redis.from_url(url, **options)


def check_redis(redis: Redis) -> None:
    """Raise ConfigurationError if Redis refuses REDIS_URL; one that is away may answer later."""
    try:
        redis.ping()
    except SentinelsRefuse as error:
        raise ConfigurationError(
            f"REDIS_URL: {error}. Check the name of the master, sentinel_username and"
            " sentinel_password."
        ) from None
    except RedisError as error:
        # Other kinds of ResponseError tell a state that passes, such as that of a replica.
        is_refusal = type(error) is ResponseError
        if is_refusal or isinstance(error, (AuthenticationError, NoPermissionError)):
            raise ConfigurationError(
                f"Redis refuses REDIS_URL: {error}. Check its user, password and database number."
            ) from None


def say_why(error: RedisError) -> str:
    """Return in words what does not answer: Redis, or Sentinels."""
    if isinstance(error, (MasterNotFoundError, SentinelsHang)):
        return str(error)
    return f"does not answer ({type(error).__name__})"


class _Connection(SentinelManagedConnection):
    """A connection to the master, which is closed when an answer is late.

    redis-py keeps it, which it does with no other connection: it would stay with a master that
    hangs, and the next call might read the late answer (redis/redis-py#4292).
    """

    def read_response(
        self,
        disable_decoding: bool = False,
        *,
        disconnect_on_error: bool | None = True,
        **options: Any,
    ) -> Any:
        """Return an answer as redis-py does."""
        return super().read_response(
            disable_decoding, disconnect_on_error=disconnect_on_error, **options
        )


class _EncryptedConnection(_Connection, SentinelManagedSSLConnection):
    """The same by TLS."""


class _Sentinels(Sentinel):
    """Asks one Sentinel after the other, beginning with the one that last knew the master.

    Threads may ask at the same time: redis-py's own method swaps two entries of the list in place,
    which loses one of them when two threads do so at once. And it names the Sentinels in its errors
    by their clients.
    """

    def __init__(self, named: SentinelUrl) -> None:
        options = {
            "socket_timeout": SENTINEL_TIMEOUT_SECONDS,
            "socket_connect_timeout": SENTINEL_TIMEOUT_SECONDS,
            "retry": Retry(NoBackoff(), 1, (ConnectionLost,)),
            **named.sentinel_options,
        }
        super().__init__(  # type: ignore[no-untyped-call]  # redis-py has no types here
            named.places, sentinel_kwargs=options
        )

    def connect(self, service: str, is_encrypted: bool, options: Mapping[str, Any]) -> Redis:
        """Return a client that finds the master anew with each connection."""
        master: Redis = self.master_for(  # type: ignore[no-untyped-call]
            service,
            connection_class=_EncryptedConnection if is_encrypted else _Connection,
            **options,
        )
        return master

    def discover_master(self, service_name: str) -> tuple[str, int]:
        """Return the master's address. Raise SentinelsHang, or MasterNotFoundError with reasons."""
        asked = tuple(self.sentinels)
        problems: dict[str, str] = {}
        hanging = refusing = down = 0
        for sentinel in asked:
            try:
                masters: Any = sentinel.sentinel_masters()
            except (AuthenticationError, ResponseError) as error:
                refusing, problem = refusing + 1, f"refuses ({error})"
            except RedisTimeoutError:
                hanging, problem = hanging + 1, "does not answer in time"
            except ConnectionLost as error:
                problem = f"does not answer ({_reason_in(error)})"
            else:
                state = masters.get(service_name)
                if state and self._is_up(state, service_name):
                    self.sentinels = [sentinel, *(one for one in asked if one is not sentinel)]
                    return state["ip"], state["port"]
                down, refusing = down + bool(state), refusing + (not state)
                problem = "says that it is down" if state else "knows none of that name"
            problems[_address(sentinel)] = problem
        said = "; ".join(f"{address} {problem}" for address, problem in problems.items())
        kind: type[RedisError] = MasterNotFoundError
        if hanging == len(asked):
            kind = SentinelsHang
        elif refusing and not down:
            kind = SentinelsRefuse
        raise kind(f"no Sentinel names the master {service_name}: {said}")

    def _is_up(self, state: Mapping[str, Any], service: str) -> bool:
        is_up: bool = self.check_master_state(state, service)  # type: ignore[no-untyped-call]
        return is_up


def _reason_in(error: ConnectionLost) -> str:
    """Return what follows the address in `Error 111 connecting to a:26379. Refused.`."""
    return (str(error).partition(". ")[2] or str(error)).rstrip(".")


def _address(sentinel: Redis) -> str:
    place = sentinel.connection_pool.connection_kwargs
    host = f"[{place['host']}]" if ":" in place["host"] else place["host"]
    return f"{host}:{place['port']}"
