"""Errors that end the building of a corpus, an evaluation or a benchmark.

Each message is one line: what happened, and what to do.
"""


class CorpusFault(Exception):
    """A corpus cannot be built."""


class EvaluationFault(Exception):
    """An evaluation cannot continue."""


class BenchmarkFault(Exception):
    """A benchmark cannot be run."""
