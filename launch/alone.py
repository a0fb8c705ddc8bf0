"""Run one part of Colloquy alone, as a deployment does: `make api` and so on."""

import os
import sys
from typing import NoReturn
from urllib.parse import urlsplit

from backend.addresses import http_url
from backend.settings import UI_PORT, Settings
from launch import parts
from launch.console import Console
from launch.environment import api_url, database_url, server_urls
from launch.pages import pages_flags, pages_key
from launch.ports import any_free_port, choose_port
from launch.processes.children import PRIVATE_UMASK
from launch.record import read_record
from launch.servers.leftovers import find_leftovers
from launch.stack import API_PORT, pages_address
from launch.supervision.services import Part, PartSpec
from launch.supervision.supervisor import Stopped, Supervisor


def run_api(settings: Settings, console: Console) -> NoReturn:
    """Run the API on API_PORT or, if that is unset, the next free port."""
    port = choose_port("API_PORT", settings.api_port, API_PORT, settings.host)
    found = _found(settings) | {"API_PORT": str(port), **_demo_url(settings), **pages_key(settings)}
    console.say(f"The API listens on {http_url(settings.host, port)}")
    become(parts.api(settings.host, port, found))


def run_ui(settings: Settings, console: Console) -> NoReturn:
    """Run the pages on UI_PORT or, if that is unset, the next free port."""
    port = choose_port("UI_PORT", settings.ui_port, UI_PORT, settings.host)
    found = {"UI_PORT": str(port), "API_URL": api_url(settings), **pages_key(settings)}
    address = pages_address(settings, port)
    console.say(f"The pages are on {address.url}, the API is {found['API_URL']}")
    become(parts.ui(address, found, pages_flags(settings)))


def run_migrate(settings: Settings, console: Console) -> NoReturn:
    """Migrate the database to the newest schema."""
    found = {"DATABASE_URL": database_url(settings)}
    console.say("Migrating the database to the newest schema")
    become(parts.migrate(found))


def run_first_admin(settings: Settings, console: Console) -> NoReturn:
    """Print the link in which the first administrator is made, while nobody can administer."""
    become(parts.first_admin({"DATABASE_URL": database_url(settings), **_pages_port(settings)}))


def run_integrity(settings: Settings, console: Console) -> NoReturn:
    """Check conversations, plans, artifacts and files."""
    become(parts.integrity({"DATABASE_URL": database_url(settings)}))


def run_repair(settings: Settings, console: Console) -> NoReturn:
    """Run the same check and repair what can be repaired."""
    become(parts.integrity({"DATABASE_URL": database_url(settings)}, "--repair"))


def remove_leftovers(settings: Settings, console: Console) -> int:
    """Remove the databases of removed DATA_DIRs; name each, and those that cannot be removed."""
    status, leftovers = 0, list(find_leftovers())
    if not leftovers:
        console.say("There is no database of a removed DATA_DIR.")
    for leftover in leftovers:
        if leftover.is_running:
            console.say(f"Still running, so it stays: {leftover}")
            status = 1
            continue
        console.say(f"Removing {leftover}")
        leftover.remove()
    return status


def run_demo(settings: Settings, console: Console) -> NoReturn:
    """Run the demo model until it is stopped."""
    port = any_free_port(9000)
    console.say(f"The demo model is on {http_url('127.0.0.1', port)}/v1")
    become(parts.demo(port))


def run_worker(settings: Settings, console: Console) -> int:
    """Run one worker, with a demo model if no other model is set and none is running here."""
    found = _found(settings) | _demo_url(settings)
    if not settings.uses_demo_model or found.get("DEMO_MODEL_URL"):
        become(parts.worker("worker", found))
    port = any_free_port()
    found["DEMO_MODEL_URL"] = http_url("127.0.0.1", port)
    demo = Part(parts.demo(port), console)
    with Supervisor(console) as supervisor:
        try:
            supervisor.start(demo)
            supervisor.wait_until_ready([demo])
            worker = parts.worker("worker", found, settings.grace_seconds)
            supervisor.start(Part(worker, console))
            supervisor.watch()
        except Stopped:
            return 0


def _found(settings: Settings) -> dict[str, str]:
    return server_urls(settings) | {"DATA_DIR": str(settings.data_dir.resolve())}


def _pages_port(settings: Settings) -> dict[str, str]:
    """Return the port on which the pages of a running stack listen, where none is set."""
    record = read_record(settings.data_dir)
    port = urlsplit(record.ui_url).port if record and not settings.ui_port else None
    return {"UI_PORT": str(port)} if port and not settings.public_url else {}


def _demo_url(settings: Settings) -> dict[str, str]:
    record = read_record(settings.data_dir)
    url = settings.demo_model_url or (record.demo_model_url if record else "")
    return {"DEMO_MODEL_URL": url} if url else {}


def become(spec: PartSpec) -> NoReturn:
    """Replace this process with the part, so that signals and exit status are the part's own."""
    sys.stdout.flush()
    os.umask(PRIVATE_UMASK)
    os.chdir(spec.cwd)
    os.execve(spec.command[0], spec.command, dict(spec.env))  # noqa: S606  (a part of Colloquy)
