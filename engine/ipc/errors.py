"""The errors of an engine's client. Each message is one line: what is wrong and what to do."""


class EngineError(Exception):
    """The engine gave no answer."""


class EngineUnavailable(EngineError):
    """The engine cannot be started or reached, or speaks another protocol."""


class NoEngine(EngineUnavailable):
    """No engine runs at the address."""


class FillFailed(EngineError):
    """The engine answered that it cannot fill this hole; ``code`` is a FailureCode."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
