"""Standard input within bounds: pygls takes any ``Content-Length``, and lines of any length.

A message that is too long ends the connection as if the client had closed it: what follows its
header cannot be told apart from further messages.
"""

import logging
from typing import BinaryIO

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
MAX_HEADER_BYTES = 1_024
"""A longer line is read in parts, and no part counts as a header."""

logger = logging.getLogger(__name__)


class BoundedInput:
    """The part of a ``BinaryIO`` that pygls uses: header lines, and bodies of at most 64 MiB."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def readline(self) -> bytes:
        return self._source.readline(MAX_HEADER_BYTES)

    def read(self, size: int) -> bytes:
        """Return the body of a message; nothing, as at the end of the input, if it is too long."""
        if size > MAX_MESSAGE_BYTES:
            logger.error(
                "a message of %s bytes is too long, %s are the most: the connection ends",
                size,
                MAX_MESSAGE_BYTES,
            )
            return b""
        return self._source.read(size)
