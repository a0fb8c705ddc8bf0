"""A hostile client: `python -m tests.security.hostile API_PORT PAGES_PORT`.

It does at once all that has made a part deaf, until its input closes. Its own processor time is not
the server's: it steps back for that.

What a page does with a hostile text is a browser's to show: see tests/e2e/faults/test_hostile.py.
"""

import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx
from mcp.types import CallToolResult, TextContent
from websockets.exceptions import WebSocketException
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from backend.types import JSON
from tests.fakes import script
from tests.servers.asking import over_http
from tests.servers.tool import ToolServer, tool
from tests.servers.wire import WireServer

WAITING_POSTS = 105
HALF_REQUESTS = 50
HALF_BODY_BYTES = 20_000
HALF_MESSAGES = 40
HALF_MESSAGE_BYTES = 15_000_000
UNPACKED_BYTES = 2**31
JSON_TYPE = "Content-Type: application/json"
NESTED_BYTES = 15_000_000
PAUSE_SECONDS = 0.5
TURN_SECONDS = 15
# A lookahead, since a pattern without one is matched in linear time.
BACKTRACKS = {"type": "object", "properties": {"code": {"pattern": "^(?!b)(a+)+$"}}}
NEVER_MATCHES = "a" * 40 + "!"
NESTED_SQL = "SELECT length({}) AS n FROM range(1000000)".format(
    "replace(" * 8 + "'aaaaaaaaaa'" + ", 'a', 'aaaaaaaaaa')" * 8
)


def main() -> int:
    """Attack until told to end."""
    os.nice(19)
    port, pages_port = map(int, sys.argv[1:])
    ended = threading.Event()
    with (
        hostile_tools() as server,
        over_http() as asking,
        WireServer("zipped_huge", huge=UNPACKED_BYTES) as bomb,
        WireServer("zipped_twice", huge=UNPACKED_BYTES) as twice,
    ):
        attacker = Attacker(port, ended)
        servers = {"tools": server.template, "asking": asking.template}
        servers |= {"bomb": bomb.template, "twice": twice.template}
        domain = attacker.make_domain("turns", servers)
        rules = [{"approvals": {"rules": [{"tools": "*", "action": "ask"}]}}]
        asked = attacker.make_domain("asked", {"tools": server.template}, middleware=rules)
        attacks: list[Callable[[], None]] = [
            attacker.wait_in_vain,
            lambda: attacker.send_half_requests(port),
            lambda: attacker.send_half_requests(pages_port),
            lambda: attacker.send_half_bodies(port, "/api/v1/chat"),
            lambda: attacker.send_half_bodies(pages_port, "/colloquy/api/imports"),
            lambda: attacker.send_half_bodies(pages_port, "/colloquy/api/files"),
            lambda: attacker.send_half_messages(pages_port),
            attacker.send_nested_bodies,
            lambda: attacker.run_turns(domain),
            lambda: attacker.send_edits(asked),
        ]
        threads = [threading.Thread(target=attack, daemon=True) for attack in attacks]
        for thread in threads:
            thread.start()
        sys.stdout.write("attacking\n")
        sys.stdout.flush()
        sys.stdin.read()
        ended.set()
        for thread in threads:
            thread.join(timeout=TURN_SECONDS + 5)
    return 0


def hostile_tools() -> ToolServer:
    """A server whose tool gives results that take for ever to check."""
    check = tool("check", BACKTRACKS)
    check.outputSchema = BACKTRACKS

    def answer(*_: object) -> CallToolResult:
        content = [TextContent(type="text", text="said")]
        return CallToolResult(content=content, structuredContent={"code": NEVER_MATCHES})

    return ToolServer([check], answer)


class Attacker:
    """One hostile client of the API on `port`."""

    def __init__(self, port: int, ended: threading.Event) -> None:
        self._port = port
        self._ended = ended
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=60)

    def make_domain(self, kind: str, servers: JSON, **settings: Any) -> str:
        """Make a domain with this client's own tool servers; give its name."""
        name = f"hostile-{kind}-{os.getpid()}"
        body = {"name": name, "mcp_servers": servers, **settings}
        self._client.post("/domains", json=body).raise_for_status()
        return name

    def wait_in_vain(self) -> None:
        """Hold many requests open that wait for one endless turn."""
        made = self._client.post("/sessions", json={}).json()
        path = f"/api/v1/sessions/{made['id']}/chat"
        body = json.dumps({"message": script({"text": "Late.", "wait": 120})})
        head = f"{JSON_TYPE}\r\nPrefer: wait=600\r\nContent-Length: {len(body)}"
        self._hold(self._port, f"POST {path}", f"{head}\r\n\r\n{body}", WAITING_POSTS)

    def send_half_requests(self, port: int) -> None:
        """Hold many connections whose headers never end."""
        self._hold(port, "GET /api/v1/sessions", "X-Half: ", HALF_REQUESTS)

    def send_half_bodies(self, port: int, path: str) -> None:
        """Hold many connections whose bodies never end."""
        body = '{"message": "' + "x" * HALF_BODY_BYTES
        head = f"Origin: http://127.0.0.1:{port}\r\n{JSON_TYPE}\r\nContent-Length: {2 * len(body)}"
        self._hold(port, f"POST {path}", f"{head}\r\n\r\n{body}", HALF_REQUESTS)

    def send_half_messages(self, port: int) -> None:
        """Hold WebSockets of pages whose large messages never end; what is closed comes anew."""
        piece = b"x" * HALF_MESSAGE_BYTES
        held: list[ClientConnection] = []
        while not self._ended.wait(PAUSE_SECONDS):
            held = [one for one in held if one.state is State.OPEN]
            with suppress(OSError, WebSocketException):
                while len(held) < HALF_MESSAGES:
                    page = connect(f"ws://127.0.0.1:{port}/_stcore/stream", compression=None)
                    held.append(page)
                    with page.protocol_mutex:
                        page.protocol.send_text(piece, fin=False)
                        page.send_data()
        for one in held:
            one.close()

    def send_nested_bodies(self) -> None:
        """Send bodies of a million lists."""
        body = b"[" + b"[]," * (NESTED_BYTES // 3) + b"[]]"
        headers = {"Content-Type": "application/json"}
        paths = ("/chat", "/domains", "/sessions")
        number = 0
        while not self._ended.wait(PAUSE_SECONDS):
            with suppress(httpx.HTTPError):
                self._client.post(paths[number % len(paths)], content=body, headers=headers)
            number += 1

    def run_turns(self, domain: str) -> None:
        """Let agents call tools with what is known to be expensive, one turn after the other."""
        steps = (
            calls("query_source", source="fi", sql=NESTED_SQL),
            calls("check"),
            calls("say"),
            calls("twice__say"),
            calls("sampling"),
            calls("elicitation", within=True),
            calls("list_sources"),
            calls("query_source", source="silent", sql="SELECT 1"),
        )
        number = 0
        while not self._ended.is_set():
            step = steps[number % len(steps)]
            number += 1
            with suppress(httpx.HTTPError):
                self._run_turn(domain, script(step, {"text": "Done."}))

    def send_edits(self, domain: str) -> None:
        """Answer what waits for an approval with arguments that take for ever to check."""
        edit = {"type": "edit", "args": {"code": NEVER_MATCHES}}
        message = script(calls("check"), {"text": "Done."})
        body = {"message": message, "domain": domain}
        while not self._ended.wait(PAUSE_SECONDS):
            with suppress(httpx.HTTPError):
                headers = {"Prefer": f"wait={TURN_SECONDS}"}
                turn = self._client.post("/chat", json=body, headers=headers).json()
                path = f"/turns/{turn['turn_id']}"
                self._client.post(f"{path}/decisions", json={"decisions": [edit]})
                self._client.post(f"{path}/stop")

    def _run_turn(self, domain: str, message: str) -> None:
        body = {"message": message, "domain": domain}
        headers = {"Prefer": f"wait={TURN_SECONDS}"}
        turn = self._client.post("/chat", json=body, headers=headers).json()
        self._client.post(f"/turns/{turn['turn_id']}/stop")
        self._client.get(f"/sessions/{turn['session_id']}/messages")

    def _hold(self, port: int, line: str, rest: str, count: int) -> None:
        """Keep `count` connections open that have sent this; one that ends is made anew."""
        text = f"{line} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{rest}"
        held: list[socket.socket] = []
        while not self._ended.wait(PAUSE_SECONDS):
            held = [one for one in held if is_open(one)]
            with suppress(OSError):
                while len(held) < count:
                    one = socket.create_connection(("127.0.0.1", port), timeout=5)
                    one.sendall(text.encode())
                    held.append(one)
        for one in held:
            one.close()


def calls(name: str, **arguments: Any) -> JSON:
    """A model's step that calls one tool."""
    return {"tools": [{"name": name, "args": arguments}]}


def is_open(connection: socket.socket) -> bool:
    """Whether the other side has not ended it, nor answered."""
    connection.setblocking(False)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        pass
    connection.close()
    return False


if __name__ == "__main__":
    sys.exit(main())
