"""The wire contract of the server's own state: the caller, the model, and the parts."""

from pydantic import Field

from backend.schemas.people.rights import Permission
from backend.schemas.usage import DayBudget
from backend.schemas.wire import Wire
from backend.version import VERSION


class ServerInfo(Wire):
    """What pages need to know of the server: who the caller is, and which model answers."""

    version: str = VERSION
    user: str
    name: str = Field(description="The caller's name.")
    has_accounts: bool = Field(description="People sign in here.")
    permissions: list[Permission] = Field(description="What the caller's role allows.")
    model: str
    is_demo_model: bool
    ready: bool
    workers: int
    missing: list[str] = Field(description="Parts that do not respond: database, redis, worker.")
    pending_approvals: int = Field(0, description="Calls that await the caller's decision.")
    pending_tools: int = Field(
        0, description="Tools of servers that are not used until an administrator accepts them."
    )
    low_budgets: list[DayBudget] = Field(
        [], description="Of today's budgets that the caller uses, those that are nearly used up."
    )
    max_file_mb: int = Field(200, description="Largest upload, in megabytes.")
    max_import_mb: int = Field(2_000, description="Largest upload to import from, in megabytes.")


class Readiness(Wire):
    """The state of each part: ok, or the problem."""

    api: str = Field("ok", examples=["stopping"], description="The process that answers.")
    database: str = Field(examples=["ok"])
    redis: str = Field(examples=["ok"])
    worker: str = Field(examples=["no live worker: start one with `make worker`"])
