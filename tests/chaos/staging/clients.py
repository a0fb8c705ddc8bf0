"""People who use the API while it breaks, and write down all that they were told."""

import json
import random
import threading
import time
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

import httpx

from backend.types import JSON
from tests.chaos.staging.records import (
    Answered,
    Deleted,
    Followed,
    History,
    PageRead,
    Stopped,
    Submitted,
)
from tests.stack import read_events

ENDED = ("succeeded", "failed", "stopped")
TIMEOUT = httpx.Timeout(10.0, connect=3.0)
PATIENCE_SECONDS = 120.0
ODD = ("", "", "", " \x00 nul", " \ud83d half", " \u202ebidi", " <b>&amp;", " 🙂" * 50)


class Caller:
    """One HTTP client that records how each request ended, and asks again where that is safe."""

    def __init__(self, url: str, history: History, token: str = "") -> None:
        self.history = history
        self._client = httpx.Client(base_url=url, timeout=TIMEOUT, headers=_bearer(token))

    def close(self) -> None:
        self._client.close()

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response | None:
        """One request; None where no answer came."""
        begun = time.time()
        answer: httpx.Response | None = None
        try:
            answer = self._client.request(method, path, **options)
            reason = answer.text[:300] if answer.status_code >= 500 else ""
        except httpx.HTTPError as error:
            reason = type(error).__name__
        status = 0 if answer is None else answer.status_code
        retry_after = answer.headers.get("Retry-After") if answer is not None else None
        ended = time.time()
        self.history.add(Answered(ended, method, path, status, ended - begun, retry_after, reason))
        return answer

    def insist(self, method: str, path: str, **options: Any) -> httpx.Response | None:
        """Ask until there is an answer that is no failure; None when patience has ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            answer = self.ask(method, path, **options)
            if answer is not None and answer.status_code < 500 and answer.status_code != 429:
                return answer
            time.sleep(0.2)
        return None

    def submit(self, text: str, session_id: str | None, key: str) -> Submitted | None:
        """Send a message until it is accepted; with the same key, so that it is once."""
        target = f"/sessions/{session_id}/chat" if session_id else "/chat"
        body: JSON = {"message": text} if session_id else {"message": text, "domain": "chaos"}
        headers = {"Prefer": "respond-async", "Idempotency-Key": key}
        answer = self.insist("POST", target, content=_dumps(body), headers=headers | _JSON)
        if answer is None or not answer.is_success:
            return None
        told = answer.json()
        one = Submitted(time.time(), key, text, told["turn_id"], told["session_id"])
        self.history.add(one)
        return one

    def stop(self, turn_id: str) -> None:
        """Stop a turn."""
        answer = self.insist("POST", f"/turns/{turn_id}/stop")
        if answer is not None and answer.is_success:
            self.history.add(Stopped(time.time(), turn_id))

    def retry(self, turn_id: str) -> str | None:
        """Try a turn again, once: a retry has no key. Give the new turn's id."""
        answer = self.ask("POST", f"/turns/{turn_id}/retry")
        return answer.json()["id"] if answer is not None and answer.is_success else None

    def wait(self, turn_id: str) -> str | None:
        """Wait until a turn has ended; give how. What it asks is approved."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            answer = self.ask("GET", f"/turns/{turn_id}")
            status = answer.json()["status"] if answer is not None and answer.is_success else ""
            if status in ENDED:
                return str(status)
            if status == "waiting":
                self.approve(turn_id)
            time.sleep(0.15)
        return None

    def approve(self, turn_id: str) -> None:
        """Approve what a turn asks, once; another click may have been quicker."""
        answer = self.ask("GET", "/approvals", params={"limit": 200})
        if answer is None or not answer.is_success:
            return
        asked = [item for item in answer.json()["items"] if item["turn_id"] == turn_id]
        if asked:
            decisions = [
                {"type": "approve", "arguments_hash": one["arguments_hash"]} for one in asked
            ]
            self.ask("POST", f"/turns/{turn_id}/decisions", json={"decisions": decisions})

    def read(self, session_id: str) -> None:
        """Read a session's history from the first row."""
        rows: list[JSON] = []
        after: int | None = 0
        while after is not None:
            query = {"after": after, "limit": 200}
            answer = self.ask("GET", f"/sessions/{session_id}/messages", params=query)
            if answer is None or not answer.is_success:
                return
            page = answer.json()
            rows += page["items"]
            after = page["next_after"]
        self.history.add(PageRead(time.time(), session_id, tuple(rows)))

    def delete(self, session_id: str) -> None:
        """Delete a session; a second try may find it gone already."""
        answer = self.insist("DELETE", f"/sessions/{session_id}")
        if answer is not None and answer.status_code in (204, 404):
            self.history.add(Deleted(time.time(), session_id))


class Follower:
    """Follows one session in a thread, and resumes with the last event's id when cut off."""

    def __init__(self, url: str, session_id: str, history: History, token: str = "") -> None:
        self._url, self._session_id, self._history = url, session_id, history
        self._token = token
        self._name = f"follower {uuid4().hex[:6]}"
        self._closing = threading.Event()
        self._last: str | None = None
        self.ended: set[str] = set()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def hears_of(self, turn_ids: Iterable[str], seconds: float) -> bool:
        """Whether the ends of these turns are told in time."""
        deadline = time.monotonic() + seconds
        while not self.ended.issuperset(turn_ids) and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.ended.issuperset(turn_ids)

    def close(self) -> None:
        """Look no more; the thread ends with the stream's next heartbeat."""
        self._closing.set()

    def _follow(self) -> None:
        connection = 0
        while not self._closing.is_set():
            connection += 1
            try:
                self._read(connection)
            except (httpx.HTTPError, OSError):
                self._closing.wait(0.2)

    def _read(self, connection: int) -> None:
        headers = _bearer(self._token) | ({"Last-Event-ID": self._last} if self._last else {})
        url = f"{self._url}/sessions/{self._session_id}/events"
        with httpx.stream("GET", url, headers=headers, timeout=TIMEOUT) as answer:
            if answer.status_code != 200:
                self._closing.wait(0.3)
                return
            for event in read_events(answer.iter_lines()):
                if self._closing.is_set():
                    return
                self._last = event["id"]
                name, data, place = event["event"], event["data"], event["id"]
                record = Followed(
                    time.time(), self._name, connection, self._session_id, place, name, data
                )
                self._history.add(record)
                if name == "turn_finished":
                    self.ended.add(data["context"]["turn_id"])


class Person(threading.Thread):
    """Talks in one session after another until all turns of the run are taken."""

    def __init__(
        self,
        number: int,
        seed: int,
        url: str,
        history: History,
        left: "Countdown",
        token: str = "",
    ) -> None:
        super().__init__(name=f"person {number}", daemon=True)
        self._dice = random.Random(f"person {seed} {number}")
        self._number, self._url, self._history, self._left = number, url, history, left
        self._token = token
        self._caller = Caller(url, history, token)
        self._turns = 0

    def run(self) -> None:
        try:
            while self._left.take():
                self._talk(self._dice.randint(2, 6))
        finally:
            self._caller.close()

    def _talk(self, messages: int) -> None:
        """One session, from its first message to its last page."""
        first = self._say(None)
        if first is None:
            return
        follower = Follower(self._url, first.session_id, self._history, self._token)
        turn = first
        for _ in range(messages):
            self._watch(turn)
            if not self._left.take():
                break
            turn = self._say(first.session_id) or turn
        self._caller.wait(turn.turn_id)
        self._caller.read(first.session_id)
        time.sleep(0.3)
        follower.close()
        if self._dice.random() < 0.1:
            self._caller.delete(first.session_id)

    def _say(self, session_id: str | None) -> Submitted | None:
        self._turns += 1
        marker = f"p{self._number}-{self._turns}"
        text = f"turn {marker} please{self._dice.choice(ODD)}"
        key = f"{marker}-{uuid4().hex[:8]}"
        if self._dice.random() < 0.15:  # a double click
            twin = Caller(self._url, self._history, self._token)
            click = threading.Thread(target=twin.submit, args=(text, session_id, key))
            click.start()
            said = self._caller.submit(text, session_id, key)
            click.join()
            twin.close()
            return said
        return self._caller.submit(text, session_id, key)

    def _watch(self, turn: Submitted) -> None:
        """What a person does while a turn runs: waits, mostly."""
        mood = self._dice.random()
        if mood < 0.12:
            time.sleep(self._dice.random())
            self._caller.stop(turn.turn_id)
        elif mood < 0.25:
            return  # the next message is sent while this one runs
        self._caller.read(turn.session_id)
        ended = self._caller.wait(turn.turn_id)
        if ended in ("failed", "stopped") and self._dice.random() < 0.5:
            again = self._caller.retry(turn.turn_id)
            if again:
                self._caller.wait(again)


class Countdown:
    """How many messages are left to be sent, for all people together."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Take one; False when none is left."""
        with self._lock:
            self._count -= 1
            return self._count >= 0

    @property
    def is_empty(self) -> bool:
        """Whether none is left."""
        return self._count <= 0

    def end(self) -> None:
        """Let everybody finish what they do."""
        with self._lock:
            self._count = 0


_JSON = {"Content-Type": "application/json"}


def _dumps(body: JSON) -> bytes:
    """JSON of any text, lone surrogates too, which httpx refuses to write."""
    return json.dumps(body).encode()


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}
