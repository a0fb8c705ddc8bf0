"""Start all of Colloquy on one machine: servers, schema, demo model, API, workers, pages."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from backend.addresses import Address, http_url
from backend.settings import UI_PORT, Settings
from launch import parts
from launch.console import Console
from launch.errors import AlreadyRunning, LaunchError
from launch.folders import make_folder
from launch.pages import pages_flags, pages_key
from launch.ports import any_free_port, choose_port
from launch.private_files import FolderLock
from launch.record import StackRecord, clear_record, read_record, stack_lock, write_record
from launch.servers.leftovers import find_leftovers, leftover_text
from launch.servers.postgres import EmbeddedPostgres
from launch.servers.redis import EmbeddedRedis
from launch.supervision.services import Part, PartSpec, Server
from launch.supervision.supervisor import Stopped, Supervisor

API_PORT = 8000


@dataclass(frozen=True)
class Ports:
    """The ports of this stack's parts."""

    ui: int
    api: int
    demo: int | None


Table = Callable[[Settings, Ports, dict[str, str]], list[PartSpec]]


def process_table(settings: Settings, ports: Ports, found: dict[str, str]) -> list[PartSpec]:
    """Return Colloquy's processes in starting order: the migration, then the lasting ones."""
    demo = [parts.demo(ports.demo)] if ports.demo else []
    # Without a worker the API never becomes ready, so check only that it is alive.
    path = "/readyz" if settings.workers else "/healthz"
    grace = settings.grace_seconds
    workers = [
        parts.worker(f"worker-{n + 1}", {**found, **probe_port(settings, n)}, grace)
        for n in range(settings.workers)
    ]
    return [
        parts.migrate(found),
        *demo,
        parts.api(
            settings.host,
            ports.api,
            {**found, **probe_port(settings, settings.workers)},
            path,
            waits=True,
            grace=grace,
        ),
        *workers,
        parts.ui(pages_address(settings, ports.ui), found, pages_flags(settings)),
    ]


def probe_port(settings: Settings, number: int) -> dict[str, str]:
    """Return the port of the probes of one process: of a worker, or of the API after them."""
    first = settings.probe_port
    return {"PROBE_PORT": str(first + number)} if first else {}


def pages_address(settings: Settings, port: int) -> Address:
    """Return the address the pages listen on, with the public one that people open."""
    return Address(settings.host, port, settings.public_url, settings.allowed_hosts)


def choose_ports(settings: Settings) -> Ports:
    """Return the ports as set, or free ones that no other part was given. Raise LaunchError."""
    if settings.ui_port and settings.ui_port == settings.api_port:
        raise LaunchError(
            f"UI_PORT and API_PORT are both {settings.ui_port}. Set one of them to another port, or"
            " unset it."
        )
    reserved = (settings.api_port,) if settings.api_port else ()
    ui = choose_port("UI_PORT", settings.ui_port, UI_PORT, settings.host, reserved)
    api = choose_port("API_PORT", settings.api_port, API_PORT, settings.host, reserved=(ui,))
    needs_demo_model = settings.uses_demo_model and not settings.demo_model_url
    return Ports(ui, api, any_free_port() if needs_demo_model else None)


def addresses_of(settings: Settings, ports: Ports) -> dict[str, str]:
    """Return the settings that tell each part where the others are."""
    record = _record(settings, ports)
    found = {
        "DATA_DIR": str(settings.data_dir.resolve()),
        "HOST": settings.host,
        "UI_PORT": str(ports.ui),
        "API_PORT": str(ports.api),
        "API_URL": record.api_url,
        **pages_key(settings),
    }
    if record.demo_model_url:
        found["DEMO_MODEL_URL"] = record.demo_model_url
    return found


def run_stack(settings: Settings, console: Console, table: Table = process_table) -> int:
    """Run until stopped; return 0 if stopped, 1 if a part could not be kept running.

    Raise LaunchError if it cannot start at all: a taken port, a second stack for one DATA_DIR.
    """
    started = time.monotonic()
    data_dir = make_folder(settings.data_dir.resolve())
    lock = _lock_or_refuse(settings)
    try:
        ports = choose_ports(settings)
        with Supervisor(console) as supervisor:
            try:
                _start_all(settings, ports, table, supervisor, console)
                write_record(data_dir, _record(settings, ports))
                console.announce(
                    f"Colloquy is ready: {pages_address(settings, ports.ui).url}  "
                    f"({time.monotonic() - started:.0f} s; Ctrl-C stops it)"
                )
                supervisor.watch()
            except Stopped:
                pass
            except LaunchError as error:
                console.fail(error.detail)
                return 1
            finally:
                clear_record(data_dir)
    finally:
        lock.release()
    console.announce("Colloquy has stopped.")
    return 0


def _lock_or_refuse(settings: Settings) -> FolderLock:
    lock = stack_lock(settings.data_dir)
    if lock.acquire():
        return lock
    record = read_record(settings.data_dir)
    where = f"Open {record.ui_url}" if record else "Wait until it has started"
    raise AlreadyRunning(
        f"Colloquy is already running with DATA_DIR {settings.data_dir.resolve()}. {where}, "
        "stop it first, or set another DATA_DIR."
    )


def _record(settings: Settings, ports: Ports) -> StackRecord:
    return StackRecord(
        ui_url=pages_address(settings, ports.ui).url,
        api_url=http_url(settings.host, ports.api),
        demo_model_url=http_url("127.0.0.1", ports.demo) if ports.demo else settings.demo_model_url,
    )


def _start_all(
    settings: Settings, ports: Ports, table: Table, supervisor: Supervisor, console: Console
) -> None:
    """Start everything in order; return when the pages and the API answer."""
    found = {**_start_servers(settings, supervisor, console), **addresses_of(settings, ports)}
    migration, *rest = table(settings, ports, found)
    console.progress("preparing the database")
    supervisor.run_to_end(Part(migration, console))
    console.progress("starting the API, the workers and the pages")
    services = [Part(spec, console) for spec in rest]
    for service in services:
        supervisor.start(service)
    supervisor.wait_until_ready(services)
    if settings.ways:
        supervisor.run_to_end(Part(parts.first_admin(found), console))


def _start_servers(settings: Settings, supervisor: Supervisor, console: Console) -> dict[str, str]:
    """Start the embedded servers whose URL is not set; return the URLs of both."""
    urls = {"DATABASE_URL": settings.database_url, "REDIS_URL": settings.redis_url}
    if not settings.database_url:
        console.progress("starting the database")
        database = EmbeddedPostgres(settings.data_dir)
        supervisor.start(Server(database))
        urls["DATABASE_URL"] = database.url
        if not database.cluster_folder.is_relative_to(database.home):
            console.say(f"The database's files are in {database.cluster_folder}.")
        if leftovers := list(find_leftovers()):
            console.say(leftover_text(leftovers))
    if not settings.redis_url:
        console.progress("starting Redis")
        redis = EmbeddedRedis(settings.data_dir)
        supervisor.start(Server(redis))
        urls["REDIS_URL"] = redis.url
    return urls
