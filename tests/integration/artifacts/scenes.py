"""What tests of artifacts share: a domain that makes them, calls of its tools, what they made."""

from typing import Any

from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack

TOOLS = ["make_artifact", "read_artifact", "revise_artifact", "make_chart", "query_source"]


def desk(stack: Stack) -> str:
    """Make a session whose agent has the tools of artifacts; give its id."""
    domain = make_domain(stack, agents=[{"name": "maker", "tools": TOOLS}])
    return make_session(stack, domain["name"])


def call(stack: Stack, session_id: str, name: str, **arguments: Any) -> str:
    """Have the agent call a tool; give what the tool said."""
    stack.chat(
        script({"tools": [{"name": name, "args": arguments}]}, {"text": "Done."}), session_id
    )
    results = [r for r in stack.messages(session_id) if r["content_type"] == "tool_result"]
    return results[-1]["content"]["content"]


def made(stack: Stack, session_id: str) -> JSON:
    """What the newest artifact message names."""
    return [r for r in stack.messages(session_id) if r["content_type"] == "artifact"][-1]["content"]


def make(stack: Stack, session_id: str, kind: str, title: str = "A result", **given: Any) -> JSON:
    """Have the agent make an artifact; give what its message names."""
    said = call(stack, session_id, "make_artifact", kind=kind, title=title, **given)
    assert "artifact:" in said, said
    return made(stack, session_id)


def version(stack: Stack, named: JSON, number: int | None = None, **asked: Any) -> JSON:
    """A version as the API gives it."""
    path = f"/artifacts/{named['artifact_id']}/versions/{number or named['version']}"
    answer = stack.client.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def download(stack: Stack, named: JSON, form: str) -> Any:
    """The answer to a download."""
    path = f"/artifacts/{named['artifact_id']}/versions/{named['version']}/download"
    return stack.client.get(path, params={"format": form})
