"""What a client of the engine can fail with. Every message is one line: what, and what to do."""


class EngineError(Exception):
    """No answer from the engine. The message is one line that says what and what to do."""


class EngineUnavailable(EngineError):
    """The engine cannot be started or reached, or speaks another protocol."""


class NoEngine(EngineUnavailable):
    """Nobody answers at the engine's address."""


class FillFailed(EngineError):
    """The engine answered that it cannot fill this hole; ``code`` is a FailureCode."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
