"""Why a corpus, an evaluation or a benchmark cannot go on. Each message is one line."""


class CorpusFault(Exception):
    """A corpus cannot be made: what is wrong, and what to do."""


class EvaluationFault(Exception):
    """An evaluation cannot go on: what is wrong, and what to do."""


class BenchmarkFault(Exception):
    """A benchmark cannot be run: what is wrong, and what to do."""
