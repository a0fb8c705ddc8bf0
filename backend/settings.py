"""All settings, read once from the environment and `.env`; `.env.example` lists them."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

DEMO_MODEL = "demo"


class Settings(BaseSettings):
    """The configuration of one process. Values are checked here, once, at the start."""

    model_config = SettingsConfigDict(env_file=".env", env_ignore_empty=True, extra="ignore")

    database_url: str = Field("", description="PostgreSQL; empty: the embedded server of DATA_DIR.")
    redis_url: str = Field("", description="Redis; empty: the embedded server of DATA_DIR.")
    data_dir: Path = Field(Path(".data"), description="All that this installation stores.")

    host: str = Field("127.0.0.1", description="The address to listen on.")
    ui_port: int | None = Field(None, description="8501, or the next free port when unset.")
    api_port: int | None = Field(None, description="8000, or the next free port when unset.")
    api_url: str = Field("", description="Where the pages find the API; empty: HOST and API_PORT.")

    openai_api_key: SecretStr = Field(SecretStr(""), description="Empty: the demo model.")
    openai_base_url: str = Field("", description="An OpenAI-compatible endpoint, with its /v1.")
    model: str = Field("", description="The default chat model's name.")
    demo_model_url: str = Field("", description="Set by `make run`: where the demo model listens.")

    auth: Literal["none", "password", "oidc"] = "none"
    workers: int = Field(1, ge=0, le=64, description="Worker processes that `make run` starts.")
    worker_turns: int = Field(32, ge=1, le=1000, description="Turns one worker runs at once.")
    lease_seconds: float = Field(10.0, gt=0, description="A worker silent for so long is lost.")
    sweep_seconds: float = Field(
        1.0, gt=0, description="How often lost and stranded turns are sought."
    )

    source_urls: dict[str, str] = Field(
        default_factory=dict, description='Databases to ask: {"name": "SQLAlchemy URL"}, as JSON.'
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @property
    def uses_demo_model(self) -> bool:
        """Whether the bundled demo model answers: no key and no endpoint of one's own is set."""
        return not self.openai_api_key.get_secret_value() and not self.openai_base_url

    @property
    def default_model(self) -> str:
        """The chat model's name where a domain names none."""
        return self.model or (DEMO_MODEL if self.uses_demo_model else "gpt-4o")
