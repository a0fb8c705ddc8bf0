"""A hostile client: `python -m tests.security.hostile PORT` does at once all that has made a part
deaf, until its input closes. Its own processor time is not the server's: it steps back for that.
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

from backend.types import JSON
from tests.fakes import script
from tests.servers.tool import ToolServer, tool

WAITING_POSTS = 105
HALF_REQUESTS = 50
NESTED_BYTES = 15_000_000
PAUSE_SECONDS = 0.5
TURN_SECONDS = 15
BACKTRACKS = {"type": "object", "properties": {"code": {"type": "string", "pattern": "^(a+)+$"}}}
ALIASES = "\n".join(
    ["a0: &a0 [lol, lol]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))]
)
NESTED_SQL = "SELECT length({}) AS n FROM range(1000000)".format(
    "replace(" * 8 + "'aaaaaaaaaa'" + ", 'a', 'aaaaaaaaaa')" * 8
)
FENCE = "`" * 19_900 + "\n" + "x" * 100


def main() -> int:
    """Attack until told to end."""
    os.nice(19)
    port = int(sys.argv[1])
    ended = threading.Event()
    with ToolServer([tool("check", BACKTRACKS), tool("notes")], lambda *_: ALIASES) as server:
        attacker = Attacker(port, ended)
        domain = attacker.make_domain(server.template)
        attacks: list[Callable[[], None]] = [
            attacker.wait_in_vain,
            attacker.send_half_requests,
            attacker.send_nested_bodies,
            lambda: attacker.run_turns(domain),
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


class Attacker:
    """One hostile client of the API on `port`."""

    def __init__(self, port: int, ended: threading.Event) -> None:
        self._port = port
        self._ended = ended
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=60)

    def make_domain(self, tools: JSON) -> str:
        """Make a domain with this client's own tool server; give its name."""
        name = f"hostile-{os.getpid()}"
        body = {"name": name, "mcp_servers": {"tools": tools}}
        self._client.post("/domains", json=body).raise_for_status()
        return name

    def wait_in_vain(self) -> None:
        """Hold many requests open that wait for one endless turn."""
        made = self._client.post("/sessions", json={}).json()
        path = f"/api/v1/sessions/{made['id']}/chat"
        body = json.dumps({"message": script({"text": "Late.", "wait": 120})})
        head = f"Content-Type: application/json\r\nPrefer: wait=600\r\nContent-Length: {len(body)}"
        self._hold(f"POST {path} HTTP/1.1\r\n{self._host}\r\n{head}\r\n\r\n{body}", WAITING_POSTS)

    def send_half_requests(self) -> None:
        """Hold many connections whose headers never end."""
        self._hold(f"GET /api/v1/sessions HTTP/1.1\r\n{self._host}\r\nX-Half: ", HALF_REQUESTS)

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
            calls("check", code="a" * 40 + "!"),
            calls("notes"),
            calls("list_sources"),
            calls("query_source", source="silent", sql="SELECT 1"),
            {"text": FENCE},
        )
        number = 0
        while not self._ended.is_set():
            step = steps[number % len(steps)]
            number += 1
            with suppress(httpx.HTTPError):
                self._run_turn(domain, script(step, {"text": "Done."}))

    def _run_turn(self, domain: str, message: str) -> None:
        body = {"message": message, "domain": domain}
        headers = {"Prefer": f"wait={TURN_SECONDS}"}
        turn = self._client.post("/chat", json=body, headers=headers).json()
        self._client.post(f"/turns/{turn['turn_id']}/stop")
        self._client.get(f"/sessions/{turn['session_id']}/messages")

    @property
    def _host(self) -> str:
        return f"Host: 127.0.0.1:{self._port}"

    def _hold(self, text: str, count: int) -> None:
        """Keep `count` connections open that have sent this text; one that ends is made anew."""
        held: list[socket.socket] = []
        while not self._ended.wait(PAUSE_SECONDS):
            held = [one for one in held if is_open(one)]
            with suppress(OSError):
                while len(held) < count:
                    one = socket.create_connection(("127.0.0.1", self._port), timeout=5)
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
