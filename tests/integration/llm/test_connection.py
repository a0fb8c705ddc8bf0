"""An administrator connects a model while everything runs; its key is shown to nobody."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_problem, make_domain
from tests.processes import free_port
from tests.stack import Stack

KEY = "canary-of-the-page-7391"
PATH = "/model-connection"


@pytest.fixture
def other() -> Iterator[ScriptedModel]:
    """Another endpoint than the one that the environment names."""
    with ScriptedModel([{"text": "from the other one"}], KEY, ["large", "small"]) as running:
        yield running


@pytest.fixture
def stack(shared_stack: Stack) -> Iterator[Stack]:
    yield shared_stack
    assert shared_stack.client.delete(PATH).status_code == 200


def save(stack: Stack, **body: str | None) -> JSON:
    answer = stack.client.put(PATH, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def try_out(stack: Stack, **body: str) -> JSON:
    answer = stack.client.post(f"{PATH}/test", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_saved_connection_holds_for_the_next_turn_and_its_title(
    stack: Stack, model: ScriptedModel, other: ScriptedModel
) -> None:
    model.steps = [{"text": "from the environment's"}]
    other.title = {"text": "A better title"}
    domain = make_domain(stack, middleware=["title"])["name"]
    before = stack.client.get(PATH).json()

    saved = save(stack, base_url=other.url, api_key=KEY, default_model="large")
    answer = stack.chat("Hello", domain=domain)

    assert (before["source"], before["default_model"]) == ("environment", "scripted")
    assert (saved["source"], saved["base_url"], saved["has_key"]) == ("page", other.url, True)
    assert answer["response"] == "from the other one"
    assert other.requests[-1]["model"] == "large"
    server = stack.client.get("/server").json()
    assert (server["model"], server["is_demo_model"]) == ("large", False)
    assert stack.client.get("/catalog").json()["default_model"] == "large"
    stack.wait_for(lambda: other.title_requests, "the title is not asked for")

    removed = stack.client.delete(PATH).json()
    answer = stack.chat("Hello", domain=domain)

    assert removed["source"] == "environment"
    assert answer["response"] == "from the environment's"


def test_the_key_is_in_no_answer_and_no_table_and_each_act_is_on_record(
    stack: Stack, other: ScriptedModel
) -> None:
    save(stack, base_url=other.url, api_key=KEY, default_model="large")

    read = stack.client.get(PATH).text
    stored = stack.query("SELECT m::text FROM model_connections m")
    acts = stack.query(
        "SELECT details FROM audit_events WHERE subject = 'model connection' ORDER BY id"
    )

    key_file = Path(stack.environment["DATA_DIR"]) / "encryption.key"
    assert KEY not in read + str(stored) + str(acts)
    assert len(stored) == 1
    assert acts[-1].details["base_url"] == other.url
    assert key_file.stat().st_mode & 0o777 == 0o600


def test_the_saved_key_goes_to_no_other_host(stack: Stack, other: ScriptedModel) -> None:
    save(stack, base_url=other.url, api_key=KEY, default_model="large")
    elsewhere = {"base_url": "http://127.0.0.1:9/v1", "default_model": "large"}

    refused = check_problem(stack.client.put(PATH, json=elsewhere), 422)
    not_tested = check_problem(stack.client.post(f"{PATH}/test", json=elsewhere), 422)
    kept = save(stack, base_url=other.url, default_model="small")

    assert "sent nowhere else" in refused["detail"] == not_tested["detail"]
    assert (kept["has_key"], kept["default_model"]) == (True, "small")
    assert stack.chat("Hello")["response"] == "from the other one"


def test_what_somebody_else_has_saved_meanwhile_is_not_replaced_unseen(
    stack: Stack, other: ScriptedModel
) -> None:
    mine = {"base_url": other.url, "default_model": "large", "replaces": None}
    first = save(stack, **mine)

    refused = stack.client.put(PATH, json=mine)
    held = stack.client.get(PATH).json()
    second = save(stack, **{**mine, "default_model": "small", "replaces": first["saved_at"]})
    stack.client.delete(PATH)
    gone = stack.client.put(PATH, json={**mine, "replaces": second["saved_at"]})

    assert "has saved another connection meanwhile" in check_problem(refused, 409)["detail"]
    assert held == first
    assert second["default_model"] == "small"
    assert "was removed meanwhile" in check_problem(gone, 409)["detail"]
    assert save(stack, **{**mine, "replaces": None})["default_model"] == "large"


def test_a_lost_encryption_key_is_told_and_mended_by_entering_the_key_again(
    stack: Stack, other: ScriptedModel
) -> None:
    save(stack, base_url=other.url, api_key=KEY, default_model="large")
    (Path(stack.environment["DATA_DIR"]) / "encryption.key").unlink()
    stack.restart_worker()

    told = stack.client.get(PATH).json()["key_problem"]
    failed = stack.finished(stack.submit("Hello")["turn_id"])
    not_kept = {"base_url": other.url, "default_model": "large"}
    refused = check_problem(stack.client.put(PATH, json=not_kept), 409)

    assert "encryption.key is missing" in told
    assert failed["error"]["detail"] == refused["detail"] == told

    save(stack, base_url=other.url, api_key=KEY, default_model="large")

    assert stack.chat("Hello")["response"] == "from the other one"


def test_a_test_says_what_the_endpoint_did(
    stack: Stack, model: ScriptedModel, other: ScriptedModel
) -> None:
    right = {"base_url": other.url, "api_key": KEY, "default_model": "large"}

    found = try_out(stack, **right)
    wrong_key = try_out(stack, **{**right, "api_key": "canary-wrong-55"})
    no_key = try_out(stack, **{**right, "api_key": ""})
    no_model = try_out(stack, **{**right, "default_model": "larg"})
    nobody = try_out(stack, **{**right, "base_url": f"http://127.0.0.1:{free_port()}/v1"})
    no_name = try_out(stack, **{**right, "base_url": "http://no-such-host.invalid/v1"})
    the_api = try_out(stack, **{**right, "base_url": stack.base_url})
    other.steps = [{"status": 429, "text": "slow down"}]
    limited = try_out(stack, **right)
    other.steps = [{"raw": b"<html>welcome</html>", "media_type": "text/html"}]
    a_page = try_out(stack, **right)

    assert (found["outcome"], found["models"]) == ("ok", ["large", "small"])
    assert found["seconds"] > 0
    assert wrong_key["outcome"] == no_key["outcome"] == "key_refused"
    assert "wants an API key" in no_key["detail"]
    assert "canary-wrong-55" not in wrong_key["detail"]
    assert no_model["outcome"] == "unknown_model"
    assert "large" in no_model["detail"]
    assert nobody["outcome"] == no_name["outcome"] == "unreachable"
    assert the_api["outcome"] == a_page["outcome"] == "not_compatible"
    assert "usually ends in /v1" in the_api["detail"]
    assert (limited["outcome"], "quota" in limited["detail"]) == ("refused", True)
    assert stack.client.get(PATH).json()["source"] == "environment"


def test_without_a_model_the_endpoint_lists_its_models(
    stack: Stack, model: ScriptedModel, other: ScriptedModel
) -> None:
    found = try_out(stack, base_url=other.url, api_key=KEY)
    wrong_key = try_out(stack, base_url=other.url, api_key="canary-wrong-55")
    lists_none = try_out(stack, base_url=stack.base_url)
    nobody = try_out(stack, base_url=f"http://127.0.0.1:{free_port()}/v1")

    assert (found["outcome"], found["models"]) == ("ok", ["large", "small"])
    assert wrong_key["outcome"] == "key_refused"
    assert lists_none["outcome"] == "unknown_model"
    assert "Enter the name of one. The base URL usually ends in /v1" in lists_none["detail"]
    assert nobody["outcome"] == "unreachable"
    assert other.requests == []


def test_a_403_with_a_reason_is_not_said_to_be_a_refused_key(
    stack: Stack, other: ScriptedModel
) -> None:
    right = {"base_url": other.url, "api_key": KEY, "default_model": "large"}
    reason = b'{"error": {"message": "Country not supported"}}'

    other.steps = [{"status": 403, "raw": reason, "media_type": "application/json"}]
    elsewhere = try_out(stack, **right)
    other.steps = [{"status": 403, "raw": b"{}", "media_type": "application/json"}]
    no_reason = try_out(stack, **right)

    assert elsewhere["outcome"] == "refused"
    assert "refused the request or the API key (status 403)" in elsewhere["detail"]
    assert "Country not supported" in elsewhere["detail"]
    assert no_reason["outcome"] == "key_refused"


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "ftp://example.org"},
        {"base_url": "http://user:password@example.org/v1"},
        {"base_url": "http://example.org/v1?key=1"},
        {"base_url": "not an address"},
        {"base_url": ""},  # OpenAI's, without a key
        {"api_key": "with a blank"},
        {"api_key": "schlüssel"},
        {"default_model": "  "},
        {"organisation": "acme"},
    ],
)
def test_what_no_connection_can_be_is_refused(stack: Stack, wrong: JSON) -> None:
    body = {"base_url": "http://127.0.0.1:9/v1", "default_model": "m", **wrong}

    answer = stack.client.put(PATH, json=body)

    check_problem(answer, 422)
    assert wrong.get("api_key", KEY) not in answer.text
    assert stack.client.get(PATH).json()["source"] == "environment"
