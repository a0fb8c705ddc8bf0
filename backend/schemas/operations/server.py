"""The wire contract of the server's own state: which parts answer, who asks, what waits."""

from pydantic import Field

from backend.schemas.wire import Wire


class ServerInfo(Wire):
    """What a page must know of the server: who asks, and which model answers."""

    user: str
    is_admin: bool
    model: str
    is_demo_model: bool
    ready: bool
    workers: int
    missing: list[str] = Field(description="Parts that do not answer: database, redis, worker.")
    pending_approvals: int = Field(0, description="Calls that wait for the caller to decide.")
    max_file_mb: int = Field(200, description="Megabytes that an uploaded file may have.")


class Readiness(Wire):
    """The state of each part: ok, or why not."""

    database: str = Field(examples=["ok"])
    redis: str = Field(examples=["ok"])
    worker: str = Field(examples=["no live worker: start one with `make worker`"])
