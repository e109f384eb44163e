"""A team engine's counters for Prometheus: fills, times, tokens, refusals. No text or names."""

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from intarsia.engine.ipc.messages import Failed, Filled

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2.5, 4, 8, 15)


class TeamMetrics:
    """The metrics of one engine. ``gauges`` are read whenever these are asked for."""

    def __init__(self, gauges: Mapping[str, Callable[[], float]]) -> None:
        self._registry = CollectorRegistry()
        self._fills = self._counter("fills", "Fills that were answered.", "finish_reason")
        self._failures = self._counter("failures", "Fills that failed.", "code")
        self._refusals = self._counter("refused", "Requests that were not taken on.", "reason")
        self._tokens = self._counter("context_tokens", "Context tokens of fills.", "how")
        self._passes = self._counter("passes", "Forward passes after the prefill.")
        self._seconds = Histogram(
            "intarsia_fill_seconds",
            "Time of a fill, by part.",
            ["part"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._last_cancel = Gauge(
            "intarsia_last_cancel_timestamp_seconds",
            "When the model last left a cancelled fill, in Unix time.",
            registry=self._registry,
        )
        for name, read in gauges.items():
            gauge = Gauge(f"intarsia_{name}", name.replace("_", " "), registry=self._registry)
            gauge.set_function(read)

    def answered(self, answer: Filled | Failed) -> None:
        """Count a fill that has ended; a cancelled one too, once its last pass has."""
        if isinstance(answer, Failed):
            self._failures.labels(answer.code).inc()
            if answer.code == "cancelled":
                self._last_cancel.set_to_current_time()
            return
        self._fills.labels(answer.finish_reason).inc()
        self._passes.inc(answer.num_forwards)
        self._tokens.labels("read").inc(answer.num_prefilled)
        self._tokens.labels("reused").inc(answer.num_reused)
        for part in ("queue", "prefill", "denoise", "total"):
            self._seconds.labels(part).observe(getattr(answer.ms, part) / 1000)

    def refused(self, reason: str) -> None:
        """Count a request that was not taken on."""
        self._refusals.labels(reason).inc()

    def as_text(self) -> bytes:
        """Return all in the format of Prometheus."""
        return generate_latest(self._registry)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"intarsia_{name}", words, labels, registry=self._registry)
