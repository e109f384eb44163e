"""The errors of an engine's client. Each message is one line: what is wrong and what to do."""


class EngineError(Exception):
    """The engine gave no answer."""


class EngineUnavailable(EngineError):
    """The engine cannot be started or reached, or speaks another protocol."""


class NoEngine(EngineUnavailable):
    """No engine runs at the address."""


class EngineSilent(EngineUnavailable):
    """A program listens at the address, and does not say hello in time."""


class FillFailed(EngineError):
    """The engine answered that it cannot fill this hole; ``code`` is a FailureCode."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class EngineStuck(FillFailed):
    """The engine runs, but left a request unanswered for too long."""

    def __init__(self, reason: str) -> None:
        """``reason`` is what shows it: "it makes no progress"."""
        super().__init__(
            "internal",
            f"the engine does not answer: {reason}; if it stays so, the next request restarts it",
        )
