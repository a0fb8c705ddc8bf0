"""A scripted model in a separate process, so that its work is not attributed to others.

A question determines its answer: `answer 7 with 200 tokens every 20 ms`. Each answer is a different
text, known in advance, and each token is a word. With ` after TOOL` appended, the model calls
that tool in this answer, and responds to its result with the answer of the next number.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from backend.types import JSON
from tests.fakes import ScriptedModel

_QUESTION = re.compile(r"answer (\d+) with (\d+) tokens every ([\d.]+) ms(?: after (\w+))?")


def question(number: int, tokens: int, milliseconds: float) -> str:
    """Return the question for the answer with this number, length and pace."""
    return f"answer {number} with {tokens} tokens every {milliseconds} ms"


def answer(number: int, tokens: int) -> str:
    """Return the text of the answer: one word per token."""
    return " ".join(f"w{(number * 31 + place * 7) % 997:03}" for place in range(tokens))


@contextmanager
def model_process() -> Iterator[str]:
    """Run the model for the block and yield its URL."""
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()  # it ends when its input closes


def _step(messages: list[JSON], _: JSON) -> JSON:
    is_result = messages[-1]["role"] == "tool"
    said = [message["content"] for message in messages if message["role"] == "user"]
    asked = _QUESTION.findall(str(said[-1] if is_result else messages[-1]["content"]))
    if not asked:
        return {"text": "ready"}
    number, tokens, milliseconds, tool = asked[-1]
    return {
        "text": answer(int(number) + is_result, int(tokens)),
        "delay": float(milliseconds) / 1e3,
        "tools": [{"name": tool}] if tool and not is_result else [],
    }


if __name__ == "__main__":
    with ScriptedModel(_step) as model:
        print(model.url, flush=True)
        sys.stdin.read()
