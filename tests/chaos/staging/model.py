"""What the scripted model says in a run: made from a seed and from each message's marker."""

import random
import re
import threading
import time
from collections import Counter

from backend.types import JSON
from tests.chaos.staging.records import History, Said

MARKER = re.compile(r"turn ([\w-]+)")
WORDS = ("ledger", "budget", "account", "margin", "forecast", "variance", "東京", "naïve", "🙂")
NEVER = "never-"
SUMMARY_PROMPT = "Context Extraction Assistant"
PAYS = "approval"

# How a first try may go wrong; the next one goes well.
MISHAPS: tuple[JSON, ...] = (
    {"status": 500},
    {"status": 503, "headers": {"Retry-After": "1"}},
    {"status": 429, "headers": {"Retry-After": "1"}},
    {"text": "half an ans", "drop": True},
    {"text": "cut in the mid", "cut": True},
    {"tools": [{"name": "act", "args": {"key": NEVER}}], "drop": True},
    {"tools": [{"name": "act", "args": '{"key": "never-cut'}], "finish": "length"},
    {"tools": [{"name": "act", "args": "{'key': never-json}"}]},
    {"tools": [{"name": "no_such_tool", "args": {"key": NEVER}}]},
)


class Script:
    """Answers for `ScriptedModel(steps=...)`: each turn takes some calls and ends with words.

    Each answer that asks for calls gives them keys of their own, so that a key stands for one
    call of one model message. `slow`: how many times as long as usual the calls take.
    """

    def __init__(
        self,
        seed: int,
        history: History,
        mishaps: float = 0.1,
        pace: float = 0.01,
        slow: float = 1.0,
    ) -> None:
        self._seed, self._history, self._slow = seed, history, slow
        self._mishaps, self._pace = mishaps, pace
        self._asked: Counter[tuple[str, int]] = Counter()
        self._given = 0
        self._lock = threading.Lock()

    def __call__(self, messages: list[JSON], body: JSON) -> JSON:
        """Give the next step of the turn that the messages end with, and note it."""
        if SUMMARY_PROMPT in str(messages[-1]["content"]):
            return {"text": "They looked around, and acted.", "delay": self._pace}
        marker, number = _place(messages)
        with self._lock:
            self._asked[marker, number] += 1
            is_first = self._asked[marker, number] == 1
            self._given += 1
            given = self._given
        dice = random.Random(f"{self._seed} {marker} {number}")
        step = self._mishap(dice) if is_first else None
        step = step or self._good(dice, marker, number, given)
        self._note(marker, step)
        return step

    def _mishap(self, dice: random.Random) -> JSON | None:
        return dict(dice.choice(MISHAPS)) if dice.random() < self._mishaps else None

    def _good(self, dice: random.Random, marker: str, number: int, given: int) -> JSON:
        calls_left = number < random.Random(f"{self._seed} {marker}").choice((0, 1, 1, 2, 3))
        text = " ".join(dice.choices(WORDS, k=dice.randint(3, 20)))
        step: JSON = {"text": f"{marker} {number}: {text}.", "delay": self._pace}
        if dice.random() < 0.2:
            step["think"] = "hm, so " + text
        if calls_left:
            step["tools"] = [
                _call(dice, f"{marker}/{number}/{place}/{given}", place, self._slow)
                for place in range(dice.choice((1, 1, 2, 4)))
            ]
        else:
            step["text"] += f" end of {marker}"
        return step

    def _note(self, marker: str, step: JSON) -> None:
        calls = [call["args"] for call in step.get("tools", ())]
        keys = tuple(args["key"] for args in calls if isinstance(args, dict))
        is_whole = not {"status", "drop", "cut", "finish"} & set(step)
        text = str(step.get("text", ""))
        self._history.add(Said(time.time(), marker, text, keys, is_whole))


class Steady(Script):
    """The same for every turn: a batch of calls, two of which take a while, then words.

    Turns whose marker holds PAYS ask people, too.
    """

    def __init__(self, history: History, pace: float = 0.01, slow: float = 0.3):
        super().__init__(0, history, 0.0, pace, slow)

    def _good(self, dice: random.Random, marker: str, number: int, given: int) -> JSON:
        if number:
            return {"text": f"{marker} is done. end of {marker}", "delay": self._pace}
        tools = [("act", 0.0), ("act", self._slow), ("look", self._slow), ("put", 0.0)]
        tools += [("pay", 0.0)] * 2 * (PAYS in marker)
        calls = [
            {"name": name, "args": {"key": f"{marker}/0/{place}/{given}", "seconds": seconds}}
            for place, (name, seconds) in enumerate(tools)
        ]
        return {"text": f"{marker} looks around, slowly.", "tools": calls, "delay": self._pace}


def _call(dice: random.Random, key: str, place: int, slow: float) -> JSON:
    arguments: JSON = {"key": key, "seconds": slow * dice.choice((0, 0, 0.05, 0.3))}
    arguments["does"] = dice.choice(("well",) * 8 + ("error", "odd"))
    call: JSON = {"name": dice.choice(("act", "act", "look", "put")), "args": arguments}
    if dice.random() < 0.5:
        call["id"] = f"call_{place}"  # used again by later messages
    return call


def _place(messages: list[JSON]) -> tuple[str, int]:
    """The marker of the person's last message, and how many answers came since."""
    roles = [message["role"] for message in messages]
    last = len(roles) - 1 - roles[::-1].index("user")
    found = MARKER.search(str(messages[last]["content"]))
    return found[1] if found else "", roles[last:].count("assistant")
