"""Frames hold one message each; whatever else is told apart."""

import io
import struct

import pytest

from intarsia.workspace.index.frames import MAX_FRAME_BYTES, FrameError, read_frame, to_frame


def test_messages_come_back_in_order():
    stream = io.BytesIO(to_frame({"a": 1}) + to_frame([2]))
    assert read_frame(stream) == b"\x81\xa1a\x01"
    assert read_frame(stream) == b"\x91\x02"
    assert read_frame(stream) is None


@pytest.mark.parametrize(
    "data", [b"\0", b"\0\0\0", to_frame([1, 2, 3])[:-1], struct.pack(">I", MAX_FRAME_BYTES + 1)]
)
def test_what_is_cut_off_or_too_large_is_an_error(data: bytes):
    with pytest.raises(FrameError):
        read_frame(io.BytesIO(data))


def test_a_message_that_cannot_be_sent_is_an_error():
    with pytest.raises(FrameError, match="are allowed"):
        to_frame("x" * (MAX_FRAME_BYTES + 1))
    with pytest.raises(FrameError, match="UTF-8"):
        to_frame("\udcff")
