"""What tests share: real servers for the whole run, a stack with a scripted model."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples

from backend.data.sources import PRELOADED
from backend.sandbox.sandbox import Sandbox
from backend.storage.stores import MARK
from tests.fakes import ScriptedModel
from tests.forked import fork
from tests.stack import Servers, Stack

# The same examples in each run, so that more of them find nothing new; no limit of time, because
# a machine may be busy with other tests.
examples.register_profile(
    "steady",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
examples.load_profile("steady")

Stack.launch = staticmethod(fork)

TESTS = Path(__file__).parent
UNFINISHED = "SELECT id FROM turns WHERE finished_at IS NULL"
# Of stacks that stay and lose no worker: the sweeps are half of what an idle one costs, and each of
# pytest's workers has one all the time.
GENTLE = {"SWEEP_SECONDS": "2"}
RUN_TOGETHER = ({"e2e"}, {"chaos", "integration", "replay"})

# Nothing here speaks TLS, yet each HTTP client reads all certificates that it would trust, which
# takes longer than most requests: here, and in the parts that tests start, there are none to read.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)


@pytest.hookimpl(tryfirst=True)  # before tests are deselected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make browser` what is no journey; mix modules with a browser and the others.

    A browser keeps all processors busy, while the others mostly wait.
    """
    folders = {item.path: item.path.relative_to(TESTS).parts[0] for item in items}
    for item in items:
        if folders[item.path] == "e2e" and not item.get_closest_marker("journey"):
            item.add_marker("browser")
    groups = [[p for p, name in folders.items() if name in one] for one in RUN_TOGETHER]
    place = {p: (n + 1) / len(group) for group in groups for n, p in enumerate(group)}
    items.sort(key=lambda item: place.get(item.path, 2))


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    # Not one of pytest's folders: as root, PostgreSQL runs as a user who may not enter those.
    with TemporaryDirectory(prefix="colloquy-") as home:
        Path(home).chmod(0o711)
        with Servers(Path(home)) as running:
            yield running


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as running:
        yield running


@pytest.fixture(autouse=True)
def fresh_model(request: pytest.FixtureRequest) -> None:
    """The model forgets what other tests asked, and what it was to say to them."""
    model = request.getfixturevalue("model") if "model" in request.fixturenames else None
    if isinstance(model, ScriptedModel):
        model.clear()
        model.steps = ()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    opened = Sandbox(PRELOADED)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def shared_stack(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    with make_stack(servers, model, tmp_path_factory.mktemp("stack"), **GENTLE) as running:
        yield running


@pytest.fixture
def stack(shared_stack: Stack, model: ScriptedModel) -> Iterator[Stack]:
    """The stack that all gentle tests share. A turn that a test leaves would change the next's."""
    yield shared_stack
    for (turn_id,) in shared_stack.query(UNFINISHED):
        shared_stack.client.post(f"/turns/{turn_id}/stop")
    shared_stack.wait_for(lambda: not shared_stack.query(UNFINISHED), "a test's turns do not end")


@pytest.fixture
def own_stack(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """A stack of one's own, for tests that kill its parts."""
    with make_stack(servers, model, tmp_path, LEASE_SECONDS="2", SWEEP_SECONDS="0.3") as running:
        yield running


@pytest.fixture
def patient_stack(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """A stack of one's own whose leases outlast any test."""
    with make_stack(servers, model, tmp_path, LEASE_SECONDS="300") as running:
        yield running


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of all demo stacks, one after the other: what ledgers say is read once."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo_stack(servers: Servers, demo_home: Path) -> Iterator[Stack]:
    """The real thing as `make run` starts it: the demo model answers.

    Few modules use it, so it ends with each of them: an idle stack costs the others time.
    """
    for mark in demo_home.rglob(MARK):  # each stack is an installation of its own
        mark.unlink()
    stack = Stack(servers.new_database(), servers.new_redis(), demo_home, OPENAI_API_KEY="")
    stack.ends_with_it.callback(servers.stop_redis, stack.redis_url)
    stack.environment.pop("OPENAI_BASE_URL", None)
    stack.start_demo_model()
    with stack as running:
        yield running


def make_stack(servers: Servers, model: ScriptedModel, home: Path, **environment: str) -> Stack:
    """A stack with a database and a Redis of its own, which ends with it."""
    stack = Stack(
        servers.new_database(),
        servers.new_redis(),
        home,
        OPENAI_BASE_URL=model.url,
        OPENAI_API_KEY="test",
        MODEL="scripted",
        MODEL_TRIES="2",
        **environment,
    )
    stack.ends_with_it.callback(servers.stop_redis, stack.redis_url)
    return stack
