"""A collector of traces that speaks OTLP over HTTP, and keeps what it is sent."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue


class Seen(NamedTuple):
    """A span as it was sent; `service`: what sent it."""

    service: str
    name: str
    kind: int
    trace: str
    id: str
    parent: str
    is_failed: bool
    attributes: dict[str, object]


class Collector:
    """Answers each request with 200; while `holds` is set, with nothing."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.answers = threading.Event()
        self.answers.set()
        self._server = _Server(self)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Collector":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.answers.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def spans(self) -> list[Seen]:
        """All spans so far."""
        requests = [ExportTraceServiceRequest.FromString(body) for body in list(self.bodies)]
        return [
            Seen(
                str(_values(of_process.resource.attributes)["service.name"]),
                span.name,
                span.kind,
                span.trace_id.hex(),
                span.span_id.hex(),
                span.parent_span_id.hex(),
                span.status.code == 2,
                _values(span.attributes),
            )
            for request in requests
            for of_process in request.resource_spans
            for of_scope in of_process.scope_spans
            for span in of_scope.spans
        ]

    def named(self, name: str) -> list[Seen]:
        """The spans of this name, or of one that begins with it."""
        return [span for span in self.spans if span.name.startswith(name)]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        collector = self.server.collector
        body = self.rfile.read(int(self.headers["Content-Length"]))
        collector.headers.append({"path": self.path, **self.headers})
        collector.bodies.append(body)
        collector.answers.wait()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def _values(pairs: "list[KeyValue]") -> dict[str, object]:
    found = ((pair.key, pair.value, pair.value.WhichOneof("value")) for pair in pairs)
    return {key: getattr(value, kind) for key, value, kind in found if kind}
