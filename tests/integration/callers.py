"""The API over a running stack's database, as people other than the local user see it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi.testclient import TestClient

from backend.api.app import create_app
from backend.api.dependencies import get_scope
from backend.auth.scope import Scope
from backend.bootstrap import bootstrap
from backend.settings import Settings
from tests.stack import Stack


@contextmanager
def api_for(stack: Stack, folder: Path, scope: Scope) -> Iterator[TestClient]:
    """Serve the API to this person."""
    settings = Settings(
        _env_file=None,
        database_url=stack.database_url,
        redis_url=stack.redis_url,
        data_dir=folder,
    )
    app = create_app(bootstrap(settings, threads=4))
    app.dependency_overrides[get_scope] = lambda: scope
    with TestClient(app, base_url="http://127.0.0.1/api/v1") as client:
        yield client
