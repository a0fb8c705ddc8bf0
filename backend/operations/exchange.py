"""`colloquy import` and `colloquy export`: files of conversations, through the API.

They ask as the person whose API token is in COLLOQUY_TOKEN; where nobody signs in, none is needed.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from backend.addresses import http_url, read_servers
from backend.configuration import named_path, read_settings
from backend.errors.base import AppError
from backend.imports.langgraph_dump import dump
from backend.text import counted
from backend.web.replicas import Replicas, ReplicaTransport

TOKEN = "COLLOQUY_TOKEN"  # noqa: S105 - a variable's name
LANGGRAPH = "LANGGRAPH_URL"  # its password is not for lists of processes
LOOK_SECONDS = 1.0
_READING = httpx.Timeout(900.0, connect=5.0)


class Refused(Exception):
    """The API refused a call, or does not answer; the text says why."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = _parser()
    wanted = parser.parse_args(arguments)
    try:
        with _client(wanted.url) as client:
            return int(wanted.run(client, wanted))
    except Refused as refusal:
        sys.stderr.write(f"{refusal}\n")
    except AppError as error:
        sys.stderr.write(f"{error.detail}\n")
    except OSError as error:
        sys.stderr.write(f"{error.filename}: {error.strerror}.\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="colloquy", description=__doc__)
    subcommands = parser.add_subparsers(required=True)
    bring = subcommands.add_parser("import", help="import an export of another program")
    what = bring.add_mutually_exclusive_group(required=True)
    what.add_argument("file", nargs="?", type=named_path, help="a zip, JSON or JSON Lines")
    what.add_argument(
        "--langgraph",
        action="store_true",
        help="the threads of the PostgresSaver whose database's address stands in LANGGRAPH_URL",
    )
    bring.add_argument("--domain", help="of the new sessions; otherwise the default one")
    bring.add_argument("--inspect", action="store_true", help="only say what is in it")
    bring.set_defaults(run=_import)
    take = subcommands.add_parser("export", help="write sessions as JSON Lines")
    take.add_argument("file", type=named_path, help="where to write; it must not exist yet")
    take.add_argument("--session", action="append", default=[], help="its id; may be repeated")
    take.set_defaults(run=_export)
    for one in (bring, take):
        one.add_argument("--url", help="the API's address; otherwise that of this installation")
    return parser


def _client(url: str | None) -> httpx.Client:
    settings = read_settings()
    own = settings.api_url or http_url(settings.host, settings.api_port or 8000)
    servers = (url.rstrip("/"),) if url else read_servers(own)
    token = os.environ.get(TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    several = len(servers) > 1
    return httpx.Client(
        base_url=f"{servers[0]}/api/v1/",
        headers=headers,
        timeout=_READING,
        transport=ReplicaTransport(Replicas(servers), httpx.HTTPTransport()) if several else None,
    )


def _import(client: httpx.Client, wanted: argparse.Namespace) -> int:
    if not wanted.langgraph:
        return _import_file(client, wanted, wanted.file)
    if not (url := os.environ.get(LANGGRAPH)):
        raise Refused(f"Set {LANGGRAPH} to the address of LangGraph's database.")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "langgraph.jsonl"
        dump(url, path)
        return _import_file(client, wanted, path)


def _import_file(client: httpx.Client, wanted: argparse.Namespace, path: Path) -> int:
    with path.open("rb") as file:
        made = _call(client, "POST", "imports", files={"file": (path.name, file)})
    found = made["inspection"]
    _say(
        f"{found['label']}: {counted(found['conversations'], 'conversation')} with"
        f" {counted(found['messages'], 'message')}, {counted(found['attachments'], 'attachment')}"
        f" ({found['missing']:,} missing). Already here: {found['known']:,}."
        f" Cannot be imported: {found['skipped_count']:,}."
    )
    for note in [*found["notes"], *(f"{s['title']}: {s['reason']}" for s in found["skipped"])]:
        _say(f"  {note}")
    if wanted.inspect:
        _call(client, "POST", f"imports/{made['id']}/cancel")
        return 0
    _call(client, "POST", f"imports/{made['id']}/start", json={"domain": wanted.domain})
    return _follow(client, made["id"], found["conversations"] + found["skipped_count"])


def _follow(client: httpx.Client, import_id: str, total: int) -> int:
    """Say how far the import is until it ends; Ctrl-C leaves it to the worker."""
    said = -1
    while True:
        one = _call(client, "GET", f"imports/{import_id}")
        if one["done"] != said:
            said = one["done"]
            _say(f"{said:,} of {total:,}")
        if one["status"] != "running":
            break
        time.sleep(LOOK_SECONDS)
    for line in one["report"]:
        _say(f"  {line['title']}: {line['outcome']}. {' '.join(line['notes'])}")
    counts = ", ".join(f"{count:,} {name}" for name, count in one["counts"].items())
    _say(f"{one['status']}: {counts or 'nothing'}{'. ' + one['error'] if one['error'] else ''}")
    return 0 if one["status"] == "succeeded" else 1


def _export(client: httpx.Client, wanted: argparse.Namespace) -> int:
    try:
        with client.stream("GET", "export", params={"session_id": wanted.session}) as answer:
            if answer.is_error:
                answer.read()
                raise Refused(_reason(answer))
            with wanted.file.open("xb") as file:
                for piece in answer.iter_bytes():
                    file.write(piece)
    except httpx.TransportError as error:
        raise _unreached(client, error) from error
    _say(f"{wanted.file.stat().st_size:,} bytes written to {wanted.file}.")
    return 0


def _unreached(client: httpx.Client, error: httpx.TransportError) -> Refused:
    return Refused(
        f"The API does not answer at {client.base_url} ({error})."
        " Start `make run`, or name another address with --url."
    )


def _call(client: httpx.Client, method: str, path: str, **options: Any) -> Any:
    try:
        answer = client.request(method, path, **options)
    except httpx.TransportError as error:
        raise _unreached(client, error) from error
    if answer.is_error:
        raise Refused(_reason(answer))
    return answer.json()


def _reason(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"The API answered with status {answer.status_code}."


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
