"""An MCP server over plain HTTP whose answers to calls break in ways that no library would."""

import gzip
import json
import threading
import zlib
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from backend.types import JSON

HUGE = 70 * 2**20
PARTS = 2_000_000


class WireServer:
    """Has one tool `say`; its answer breaks by `behaviour`, unless the call has `fine: true`.

    With `late: true` that one is answered after `answer_late` is set. `unsaid`: no answer begins;
    cut: in the middle of the stream; end: a stream without the result; huge;
    zipped: compressed, which nobody asked for; zipped_huge; zipped_twice; parts: of too many
    to be read; streamed_parts: such within a stream of events; garbage: no JSON;
    status: 500; refuse: a JSON-RPC error; hang: none, and status 500 to a
    cancellation; deaf: none to either. `everything`: already when it is asked who it is.
    """

    def __init__(self, behaviour: str, *, everything: bool = False, huge: int = HUGE) -> None:
        class Handler(_Handler):
            pass

        self._is_ending = threading.Event()
        self.answer_late = threading.Event()
        self.methods: list[str] = []
        self.calls: list[Any] = []  # their ids
        self.cancelled: list[Any] = []
        Handler.behaviour, Handler.everything, Handler.huge = behaviour, everything, huge
        Handler.methods, Handler.calls = self.methods, self.calls
        Handler.cancelled, Handler.is_ending = self.cancelled, self._is_ending
        Handler.answer_late = self.answer_late
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        url = f"http://127.0.0.1:{self._server.server_port}/mcp"
        self.template: JSON = {"transport": "streamable_http", "url": url}

    def __enter__(self) -> "WireServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_ending.set()
        self.answer_late.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    behaviour, everything, huge = "", False, HUGE
    methods: list[str]
    calls: list[Any]
    cancelled: list[Any]
    is_ending: threading.Event
    answer_late: threading.Event

    def parse_request(self) -> bool:
        is_read = super().parse_request()
        self.methods.append(self.command)
        return is_read

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if message.get("method") == "tools/call":
            self.calls.append(message["id"])
        if message.get("method") == "notifications/cancelled":
            self.cancelled.append(message["params"]["requestId"])
            (self._deaf if self.behaviour == "deaf" else self._status)(None)
        elif "id" not in message:
            self._send(202, b"", "application/json")
        elif self.everything or _is_to_break(message):
            getattr(self, f"_{self.behaviour}")(message["id"])
        else:
            if message.get("params", {}).get("arguments", {}).get("late"):
                self.answer_late.wait()
            self._send_json({"jsonrpc": "2.0", "id": message["id"], "result": _result(message)})

    def do_GET(self) -> None:
        self._send(405, b"", "text/plain")

    def do_DELETE(self) -> None:
        self._send(200, b"", "text/plain")

    def log_message(self, *_: object) -> None:
        pass

    def _unsaid(self, _: Any) -> None:
        self.close_connection = True

    def _cut(self, _: Any) -> None:
        self._begin("text/event-stream")
        self._piece(b"event: message\ndata: {")
        self.close_connection = True

    def _end(self, _: Any) -> None:
        self._begin("text/event-stream")
        self._piece(b": nothing\n\n")
        self._piece(b"")

    def _huge(self, _: Any) -> None:
        self._begin("text/event-stream")
        try:
            for _ in range(HUGE // 2**20):
                self._piece(b"x" * 2**20)
        except OSError:
            self.close_connection = True

    def _zipped(self, call_id: Any) -> None:
        result = {"content": [{"type": "text", "text": "fine"}]}
        text = json.dumps({"jsonrpc": "2.0", "id": call_id, "result": result})
        self._send(200, gzip.compress(text.encode()), "application/json", "gzip")

    def _zipped_huge(self, _: Any) -> None:
        self._send(200, _compressed(self.huge), "application/json", "gzip")

    def _zipped_twice(self, _: Any) -> None:
        body = gzip.compress(_compressed(self.huge))
        self._send(200, body, "application/json", "gzip, gzip")

    def _parts(self, call_id: Any) -> None:
        self._send(200, _of_many_parts(call_id), "application/json")

    def _streamed_parts(self, call_id: Any) -> None:
        self._begin("text/event-stream")
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
        for _ in range(100):
            self._piece(b"event: message\ndata: " + json.dumps(note).encode() + b"\n\n")
        try:
            self._piece(b"event: message\ndata: " + _of_many_parts(call_id) + b"\n\n")
            self._piece(b"")
        except OSError:
            self.close_connection = True

    def _garbage(self, call_id: Any) -> None:
        text = json.dumps({"jsonrpc": "2.0", "id": call_id, "result": {"content": []}})
        self._send(200, text[:-1].encode(), "application/json")

    def _status(self, _: Any) -> None:
        self._send(500, b"sk-canary", "text/plain")

    def _hang(self, _: Any) -> None:
        self.is_ending.wait()
        self.close_connection = True

    _deaf = _hang

    def _refuse(self, call_id: Any) -> None:
        error = {"code": -32000, "message": "not today"}
        self._send_json({"jsonrpc": "2.0", "id": call_id, "error": error})

    def _send_json(self, message: JSON) -> None:
        self._send(200, json.dumps(message).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str, encoding: str = "") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("mcp-session-id", "one")
        if encoding:
            self.send_header("content-encoding", encoding)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _begin(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _piece(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()


@cache
def _compressed(size: int) -> bytes:
    """So many zeros as gzip."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    pieces = [packer.compress(bytes(2**20)) for _ in range(size // 2**20)]
    return b"".join([*pieces, packer.flush()])


def _of_many_parts(call_id: Any) -> bytes:
    many = "[" + "[]," * PARTS + "[]]"
    text = '{"jsonrpc": "2.0", "id": %s, "result": {"content": [], "structuredContent": {"a": %s}}}'
    return (text % (json.dumps(call_id), many)).encode()


def _result(message: JSON) -> JSON:
    if message["method"] == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "wire", "version": "1"},
        }
    if message["method"] == "tools/list":
        return {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
    return {"content": [{"type": "text", "text": "fine"}]}


def _is_to_break(message: JSON) -> bool:
    return message["method"] == "tools/call" and not message["params"]["arguments"].get("fine")
