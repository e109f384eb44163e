"""One OpenTelemetry span for each fill of a team's engine: times and counts, no text and no names.

Nothing imports this unless the operator asks for traces. The attributes are those of
https://github.com/open-telemetry/semantic-conventions-genai, and a few of our own. Spans go where
the variables OTEL_EXPORTER_OTLP_* say, by default to a collector on this machine:
https://opentelemetry.io/docs/specs/otel/protocol/exporter/
"""

import os
from collections.abc import Callable, Mapping

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_SERVICE_NAME
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from intarsia.engine.ipc.messages import Failed, Fill, Filled

_OPERATION = "text_completion"

_PROPAGATOR = TraceContextTextMapPropagator()


class FillTraces:
    """Makes the spans. Set ``exporter`` to send them elsewhere than the environment says."""

    def __init__(self, model: str, exporter: SpanExporter | None = None) -> None:
        name = {} if OTEL_SERVICE_NAME in os.environ else {SERVICE_NAME: "intarsia"}
        resource = Resource.create(name)
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("intarsia")
        self._model = model

    def begin(self, asked: Fill, headers: Mapping[str, str]) -> Callable[[Filled | Failed], None]:
        """Begin the span of a fill; its answer ends it. A ``traceparent`` header is continued."""
        span = self._tracer.start_span(
            f"{_OPERATION} {self._model}",
            context=_PROPAGATOR.extract(headers),
            kind=SpanKind.SERVER,
            attributes={
                "gen_ai.operation.name": _OPERATION,
                "gen_ai.provider.name": "intarsia",
                "gen_ai.request.model": self._model,
                "gen_ai.request.max_tokens": asked.max_tokens,
            },
        )

        def end(answer: Filled | Failed) -> None:
            if isinstance(answer, Filled):
                _note_filled(span, answer)
            else:
                _note_failed(span, answer)
            span.end()

        return end

    def close(self) -> None:
        """Send what has not been sent yet."""
        self._provider.shutdown()


def _note_filled(span: Span, answer: Filled) -> None:
    span.set_attributes(
        {
            "gen_ai.response.model": answer.model,
            "gen_ai.response.finish_reasons": [answer.finish_reason],
            "gen_ai.usage.input_tokens": answer.num_prefilled + answer.num_reused,
            "gen_ai.usage.cache_read.input_tokens": answer.num_reused,
            "gen_ai.usage.output_tokens": len(answer.tokens),
            "intarsia.num_passes": answer.num_forwards,
            "intarsia.queue_ms": answer.ms.queue,
            "intarsia.prefill_ms": answer.ms.prefill,
            "intarsia.denoise_ms": answer.ms.denoise,
        }
    )


def _note_failed(span: Span, answer: Failed) -> None:
    """Note the kind of failure; its message could quote the request. A cancel is no error."""
    span.set_attribute("error.type", answer.code)
    if answer.code != "cancelled":
        span.set_status(Status(StatusCode.ERROR))
