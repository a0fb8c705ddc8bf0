"""The API's HTTP server: it says that it stops before it does, and lets requests end in order."""

import asyncio
import faulthandler
import logging
import math
import socket

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from backend.addresses import Address
from backend.api.probe import ProbeServer
from backend.settings import Settings
from backend.web.connections import ConnectionLimits, limit_connections

LOOK_SECONDS = 0.05
ENDING_SECONDS = 12.0  # for everything but the requests
log = logging.getLogger("api")


class ApiServer(uvicorn.Server):
    """Serves `app`, as `served` lets others reach it, until SIGTERM or SIGINT."""

    def __init__(
        self,
        app: FastAPI,
        served: ASGIApp,
        address: Address,
        settings: Settings,
        probe_port: socket.socket | None = None,
    ) -> None:
        config = uvicorn.Config(
            served,
            host=address.host,
            port=address.port,
            log_config=None,  # as everything else
            log_level="warning",
            access_log=False,
            proxy_headers=False,  # any client can send them; the settings hold what a proxy says
            http=limit_connections(ConnectionLimits()),
            timeout_graceful_shutdown=math.ceil(settings.grace_seconds),
        )
        super().__init__(config)
        self._app = app
        self._probe = ProbeServer(app, probe_port) if probe_port else None
        self._grace = settings.grace_seconds
        self._delay = min(settings.stop_delay_seconds, self._grace)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and then answer probes."""
        await super().startup(sockets)
        if self._probe:
            await self._probe.open()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Be not ready for a moment, in which load balancers learn of it; then stop.

        Running requests have the grace period. Event streams end, and requests that wait for an
        answer get 202, once nobody can connect here any more: their clients go on elsewhere.
        Probes are answered until the end.
        """
        log.info("The API stops")
        state, loop = self._app.state, asyncio.get_running_loop()
        state.stopping.set()
        faulthandler.dump_traceback_later(self._delay + self._grace + ENDING_SECONDS, exit=True)
        until = loop.time() + self._delay
        while loop.time() < until and not self.force_exit:
            await asyncio.sleep(LOOK_SECONDS)
        # Called when `shutdown` first waits: then it has closed what listens.
        loop.call_soon(state.channels.close)
        loop.call_soon(state.waits.close)
        await super().shutdown(sockets)
        if self._probe:
            await self._probe.close()
