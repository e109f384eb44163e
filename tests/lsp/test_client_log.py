"""The log that editors show has no raw escapes."""

import logging
from typing import Any

from intarsia.lsp.server import ClientLogHandler


class RecordingServer:
    def __init__(self) -> None:
        self.messages: list[str] = []

    def window_log_message(self, params: Any) -> None:
        self.messages.append(params.message)


def test_escapes_in_a_log_line_are_shown() -> None:
    server = RecordingServer()
    handler = ClientLogHandler(server)  # type: ignore[arg-type]
    handler.emit(
        logging.makeLogRecord({"msg": "no file a\x1b[2J\u200b.py\nß", "levelno": logging.INFO})
    )
    assert server.messages == ["no file a\\x1b[2J\\u200b.py\nß"]
