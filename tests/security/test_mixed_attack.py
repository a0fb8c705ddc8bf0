"""What a bystander notices while two hostile clients do all at once that has made a part deaf."""

import socket
import statistics
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest

from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.processes import ROOT
from tests.stack import Servers, Stack

pytestmark = [pytest.mark.security, pytest.mark.timeout(600)]

TURNS = 15
MOST_TIMES_SLOWER = 3
MOST_GROWTH = 300 * 2**20
MOST_HEALTH_SECONDS = 1.0
WORDS = " ".join(["word"] * 40)
QUESTION = {"source": "fi", "sql": "SELECT 1"}
TOOL_TURN = ({"tools": [{"name": "query_source", "args": QUESTION}]}, {"text": WORDS})
TOOL_TURN_EVERY = 5  # turns; the others call no tool


class Watch(threading.Thread):
    """Asks /healthz all the time, and notes by how much each process grows."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(daemon=True)
        self.slowest = 0.0
        self.statuses: Counter[int] = Counter()
        self.growth: dict[str, int] = {}
        self._stack = stack
        self._first: dict[int, int] = {}
        self._ended = threading.Event()

    def end(self) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        while not self._ended.wait(0.1):
            started = time.monotonic()
            try:
                answer = httpx.get(f"{self._stack.base_url}/healthz", timeout=10)
                self.statuses[answer.status_code] += 1
            except httpx.HTTPError:
                self.statuses[0] += 1
            self.slowest = max(self.slowest, time.monotonic() - started)
            for process in processes(self._stack):
                with suppress(psutil.Error):
                    self._note(process)

    def _note(self, process: psutil.Process) -> None:
        size = process.memory_info().rss
        grown = size - self._first.setdefault(process.pid, size)
        name = f"{process.pid} {' '.join(process.cmdline())[:60]}"
        self.growth[name] = max(grown, self.growth.get(name, 0))


def test_a_bystander_is_served_while_two_clients_attack(
    servers: Servers, model: ScriptedModel, tmp_path: Path
):
    model.clear()
    with silent_server() as port, attacked_stack(servers, model, tmp_path, port) as stack:
        stack.start_worker()
        pages_port = stack.start_ui().rpartition(":")[2]
        parts = [stack.api, *stack.workers, *stack.others]
        alone = [turn_seconds(stack, number) for number in range(TURNS)]
        watch = Watch(stack)
        watch.start()

        with attack(stack, pages_port), attack(stack, pages_port):
            attacked = [turn_seconds(stack, number) for number in range(TURNS)]
        watch.end()

        assert set(watch.statuses) == {200}
        assert watch.slowest < MOST_HEALTH_SECONDS
        assert {name: size for name, size in watch.growth.items() if size > MOST_GROWTH} == {}
        assert [part.poll() for part in parts if part] == [None] * len(parts)
        assert statistics.median(attacked) < MOST_TIMES_SLOWER * statistics.median(alone)


def turn_seconds(stack: Stack, number: int) -> float:
    """How long a turn of the bystander takes; now and then one that calls a tool."""
    calls_tool = number % TOOL_TURN_EVERY == 0
    message = script(*TOOL_TURN) if calls_tool else script({"text": WORDS})
    started = time.monotonic()
    answer = stack.chat(message)
    assert answer["response"] == WORDS
    return time.monotonic() - started


def processes(stack: Stack) -> Iterator[psutil.Process]:
    """The stack's parts, and what they have started."""
    for part in [stack.api, *stack.workers, *stack.others]:
        with suppress(psutil.Error):
            process = psutil.Process(part.pid) if part else None
            if process:
                yield from (process, *process.children(recursive=True))


@contextmanager
def attacked_stack(
    servers: Servers, model: ScriptedModel, home: Path, silent_port: int
) -> Iterator[Stack]:
    sources = home / "sources"
    sources.mkdir()
    write_bomb(sources / "bomb.xlsx")
    silent = f'{{"silent": "postgresql://reader:none@127.0.0.1:{silent_port}/none"}}'
    with make_stack(servers, model, home, SOURCE_URLS=silent, WORKER_TURNS="100") as stack:
        yield stack


@contextmanager
def attack(stack: Stack, pages_port: str) -> Iterator[None]:
    ports = [str(stack.api_port), pages_port]
    command = [sys.executable, "-m", "tests.security.hostile", *ports]
    client = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert client.stdin and client.stdout
    try:
        assert client.stdout.readline() == b"attacking\n"
        time.sleep(3)  # all that it does has begun
        yield
        assert client.poll() is None
    finally:
        client.stdin.close()
        try:
            client.wait(timeout=60)
        except subprocess.TimeoutExpired:
            client.kill()
            client.wait()
        client.stdout.close()


@contextmanager
def silent_server() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as server:
        yield server.getsockname()[1]


def write_bomb(path: Path) -> None:
    """Write a workbook of some kilobytes whose one sheet holds millions of cells."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    row = b"<row>" + b'<c t="inlineStr"><is><t>x</t></is></c>' * 50 + b"</row>"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/'
        'sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
        'worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as workbook:
        for name, text in parts.items():
            workbook.writestr(name, text)
        with workbook.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(f'<worksheet xmlns="{main}"><sheetData>'.encode())
            for _ in range(400):
                sheet.write(row * 100)
            sheet.write(b"</sheetData></worksheet>")
