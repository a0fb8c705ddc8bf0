"""Signatures of webhooks are those of Standard Webhooks, and the documented lines verify them."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backend.webhooks.deliveries import PAUSES
from backend.webhooks.signing import new_secret, sign

PAGE = (Path(__file__).parents[3] / "docs/webhooks.md").read_text(encoding="utf-8")


def documented() -> Any:
    """The function `verify` of the documentation."""
    (lines,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    found: dict[str, Any] = {}
    exec(lines, found)
    return found["verify"]


def test_a_signature_is_that_of_the_specifications_library() -> None:
    at = datetime.fromtimestamp(1614265330, UTC)
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    headers = sign("msg_p5jXN8AQM9LWM0D4loKWxJek", at, b'{"test": 2432232314}', [secret])

    assert headers == {  # as standardwebhooks 1.1.0 writes it
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_the_documented_lines_verify_each_secret_and_nothing_else() -> None:
    verify, old, new = documented(), new_secret(), new_secret()
    body = '{"a": "ü"}'.encode()
    headers = dict(sign("one", datetime.now(UTC), body, [new, old]))

    assert verify(old, headers, body) and verify(new, headers, body)
    assert not verify(new_secret(), headers, body)
    assert not verify(new, headers, body + b" ")
    assert not verify(new, {**headers, "webhook-id": "another"}, body)
    late = dict(sign("one", datetime.fromtimestamp(time.time() - 301, UTC), body, [new]))
    assert not verify(new, late, body)


def test_the_documented_pauses_are_those_of_the_code() -> None:
    said = re.search(r"tried again after (.*?)\. Then", PAGE, re.DOTALL)
    assert said is not None
    units = {"s": 1, "min": 60, "h": 3_600}
    found = re.findall(r"(\d+) (s|min|h)\b", said[1])

    assert tuple(int(number) * units[unit] for number, unit in found) == PAUSES
    assert 22 * 3_600 < sum(PAUSES) < 26 * 3_600
