"""Why an evaluation cannot go on."""


class EvaluationFault(Exception):
    """The message is one line: what, and what to do."""
