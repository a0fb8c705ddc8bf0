"""OpenTelemetry's side of tracing; imported only where traces are sent.

The tracer is Colloquy's own and not the process's: libraries that trace by themselves, some of them
with texts and addresses, find none and stay silent.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from backend.errors.base import ConfigurationError
from backend.logs.outages import COLLECTOR, away, back
from backend.telemetry.spans import Attributes, Kind
from backend.version import VERSION

TRACEPARENT = "traceparent"
ERROR_TYPE = "error.type"
KINDS = {
    Kind.SERVER: trace.SpanKind.SERVER,
    Kind.CLIENT: trace.SpanKind.CLIENT,
    Kind.INTERNAL: trace.SpanKind.INTERNAL,
}
log = logging.getLogger(__name__)


class OtelTracer:
    """Makes spans, and sends them from a thread of its own. Raise ConfigurationError.

    Endpoint, headers, sampling, limits and the rest are read by the SDK: OTEL_… variables.
    """

    def __init__(self, part: str, instance: str) -> None:
        # It would say each time what the exporter below says once.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        try:
            exporter = _TellingExporter(OTLPSpanExporter())
            # What is left is sent by `close`, which waits for a moment only.
            self._provider = TracerProvider(
                resource=_resource(part, instance), shutdown_on_exit=False
            )
            self._provider.add_span_processor(BatchSpanProcessor(exporter))
        except ValueError as error:
            raise ConfigurationError(f"The OTEL_… variables are not usable: {error}") from None
        self._tracer = self._provider.get_tracer("colloquy", VERSION)

    @contextmanager
    def span(
        self, name: str, kind: Kind, attributes: Attributes, parent: Mapping[str, str] | None
    ) -> Iterator["OtelSpan"]:
        """Make a span around the block; an error that leaves the block is named, not quoted."""
        context = None if parent is None else propagate.extract(parent)
        begun = self._tracer.start_span(
            name, context, KINDS[kind], _given(attributes), record_exception=False
        )
        traced = OtelSpan(begun)
        try:
            with trace.use_span(begun, record_exception=False, set_status_on_exception=False):
                yield traced
        except Exception as error:
            traced.fail(type(error).__name__)
            raise
        finally:
            traced.end()

    def here(self) -> str | None:
        """Return the place in the trace, as W3C's traceparent."""
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier)
        return carrier.get(TRACEPARENT)

    def close(self) -> None:
        """Send what is left; it may take long."""
        self._provider.shutdown()


class OtelSpan:
    """A span; it takes no more once it has ended."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, attributes: Attributes) -> None:
        """Add what is known of it by now; None is nothing."""
        if self._span.is_recording():
            self._span.set_attributes(_given(attributes))

    def rename(self, name: str) -> None:
        """Give it another name."""
        if self._span.is_recording():
            self._span.update_name(name)

    def fail(self, kind: str) -> None:
        """Mark it as failed, by the kind of its error."""
        if self._span.is_recording():
            self._span.set_attribute(ERROR_TYPE, kind)
            self._span.set_status(trace.StatusCode.ERROR)

    def end(self) -> None:
        """End it, unless it has ended."""
        if self._span.is_recording():
            self._span.end()


class _TellingExporter(SpanExporter):
    """Says once that the collector takes no spans, and once that it does again."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._is_away = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans; those that cannot be sent are lost."""
        result = self._exporter.export(spans)
        is_away = result is not SpanExportResult.SUCCESS
        if is_away and not self._is_away:
            log.warning("The collector of traces takes none: they are lost", extra=away(COLLECTOR))
        elif self._is_away and not is_away:
            log.warning("The collector of traces takes them again", extra=back(COLLECTOR))
        self._is_away = is_away
        return result

    def shutdown(self) -> None:
        """Send no more."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what is held back: nothing."""
        return self._exporter.force_flush(timeout_millis)


def _resource(part: str, instance: str) -> Resource:
    """Return what each span says of its process; what the variables say of it has precedence."""
    own = {
        SERVICE_NAME: f"colloquy-{part}",
        "service.version": VERSION,
        "service.instance.id": instance,
    }
    # In this order: the SDK's defaults name a service too, but the variables have the last word.
    return Resource.create(own).merge(OTELResourceDetector().detect())


def _given(attributes: Attributes) -> dict[str, str | int | float | bool]:
    return {name: value for name, value in attributes.items() if value is not None}
