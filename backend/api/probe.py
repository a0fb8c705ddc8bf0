"""The API's probes and figures on a port of their own, which is not published.

There `/readyz` says whether this process can serve. Its status does not depend on what no other
process would do better without: Redis, and the workers. Who asks there needs no token, names no
host and reads every reason.
"""

import socket

import uvicorn
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from backend.api.metrics import CONTENT_TYPE
from backend.api.routes.operations.server import OK, STOPPING
from backend.errors.base import ConfigurationError
from backend.web.connections import ConnectionLimits, limit_connections

MOST_CONNECTIONS = 200


def open_port(host: str, port: int | None) -> socket.socket | None:
    """Take the port, on which nobody is answered yet. Raise ConfigurationError if it is taken."""
    if port is None:
        return None
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        raise ConfigurationError(
            f"PROBE_PORT: the API cannot listen on {host}, port {port}: {error.strerror}. Each"
            " process of a machine, API or worker, needs a port of its own."
        ) from None


class ProbeServer(uvicorn.Server):
    """Answers from `open` to `close`, on the loop of the API, whose signals it leaves alone."""

    def __init__(self, app: FastAPI, port: socket.socket) -> None:
        config = uvicorn.Config(
            create_probes(app),
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            http=limit_connections(ConnectionLimits(most=MOST_CONNECTIONS)),
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)
        self._port = port

    async def open(self) -> None:
        """Answer from now on."""
        self.config.load()
        self.lifespan = self.config.lifespan_class(self.config)
        await self.startup([self._port])

    async def close(self) -> None:
        """Answer nobody any more."""
        await self.shutdown([self._port])


def create_probes(app: FastAPI) -> Starlette:
    """Return what answers there, from what the API's own routes answer from."""
    state = app.state

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def readyz(_: Request) -> Response:
        parts = await state.parts.get()
        states, can_serve = parts.states, parts.states.database == OK
        if state.stopping.is_set():
            states, can_serve = states.model_copy(update={"api": STOPPING}), False
        return JSONResponse(states.model_dump(), 200 if can_serve else 503)

    async def metrics(_: Request) -> Response:
        return Response(await state.metrics.get(), media_type=CONTENT_TYPE)

    paths = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}
    return Starlette(routes=[Route(path, answer) for path, answer in paths.items()])
