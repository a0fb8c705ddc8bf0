"""Traces for OpenTelemetry: how long a request, a turn and its calls took, and what caused what.

Off unless the standard variables name a collector; then nothing of OpenTelemetry is imported here,
nothing is sent, and a span costs next to nothing. Spans have names, numbers and ids, never what
people or models write, nor who they are.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from dotenv import dotenv_values

from backend.errors.base import ConfigurationError
from backend.telemetry.spans import Attributes, Kind, Span, Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
HTTP = "http/protobuf"
EXPORTERS = "OTEL_TRACES_EXPORTER"
DISABLED = "OTEL_SDK_DISABLED"
CLOSE_SECONDS = 3.0  # for what is still to be sent when a process ends; the rest is lost


class _Nothing:
    """A span while tracing is off."""

    def note(self, attributes: Attributes) -> None:
        """Do nothing, like the others."""

    def rename(self, name: str) -> None: ...

    def fail(self, kind: str) -> None: ...

    def end(self) -> None: ...


_NOTHING = _Nothing()
_tracer: Tracer | None = None


def start(part: str, instance: str) -> None:
    """Switch tracing on if the environment, or `.env`, asks for it. Raise ConfigurationError.

    `part`: what kind of process this is; `instance`: its name among those of all hosts.
    """
    global _tracer
    for name, value in dotenv_values(".env").items():
        if name.startswith("OTEL_") and value:
            os.environ.setdefault(name, value)
    if is_wanted(os.environ):
        # Only here: to import it takes time and memory.
        from backend.telemetry.otel import OtelTracer

        _tracer = OtelTracer(part, instance)


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Return whether traces are to be sent. Raise ConfigurationError for a way that is unknown."""
    exporter = environment.get(EXPORTERS) or "otlp"
    given = [name for name in ENDPOINTS if environment.get(name)]
    is_disabled = environment.get(DISABLED, "").strip().lower() == "true"
    if not given or is_disabled or exporter == "none":
        return False
    if exporter != "otlp":
        raise ConfigurationError(f"{EXPORTERS} must be otlp or none: traces go by OTLP only.")
    for name in given:
        url = urlsplit(environment[name])
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ConfigurationError(f"{name} must be an address like http://collector:4318.")
    for name in PROTOCOLS:
        if environment.get(name, HTTP) not in ("", HTTP):
            raise ConfigurationError(
                f"{name} must be {HTTP}: traces go over HTTP, to a collector's port 4318 usually."
            )
    return True


def is_on() -> bool:
    """Return whether spans are sent anywhere."""
    return _tracer is not None


def close() -> None:
    """Send what is left before the process ends, but wait for `CLOSE_SECONDS` at most."""
    global _tracer
    if _tracer is not None:
        # A collector that hangs must not keep the process.
        sending = threading.Thread(target=_tracer.close, name="last spans", daemon=True)
        sending.start()
        sending.join(CLOSE_SECONDS)
        _tracer = None


def here() -> str | None:
    """Return the place in the trace of what is going on here, as W3C's traceparent."""
    return _tracer.here() if _tracer else None


def trace_id() -> str | None:
    """Return the id of the trace that is going on here, by which records are found."""
    place = here()
    return place.split("-")[1] if place else None


@contextmanager
def span(
    name: str,
    attributes: Attributes,
    kind: Kind = Kind.INTERNAL,
    parent: Mapping[str, str] | None = None,
) -> Iterator[Span]:
    """Trace the block; an error that leaves it marks the span. `parent`: headers that name one."""
    if _tracer is None:
        yield _NOTHING
        return
    with _tracer.span(name, kind, attributes, parent) as traced:
        yield traced
