"""LSP positions ↔ string offsets, in three encodings."""

import pytest
from lsprotocol.types import Position

from intarsia.lsp.documents.positions import line_starts, offset_at, position_at


def test_lines_end_at_lf_crlf_and_cr_only() -> None:
    text = "a\nb\r\nc\rd\x0ce\u2028f\x85g"
    assert list(line_starts(text)) == [0, 2, 5, 7]


@pytest.mark.parametrize("text", ["", "a", "\n", "a\n", "\r", "a\r\n", "\n\n"])
def test_there_is_a_line_after_every_line_end(text: str) -> None:
    ends = text.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    assert len(line_starts(text)) == ends + 1


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 9), ("utf-16", 6), ("utf-32", 5)])
def test_characters_are_counted_in_the_agreed_units(encoding: str, character: int) -> None:
    text = "x = 1\nß = 😀!\n"
    offset = text.index("!")
    position = Position(1, character)
    assert offset_at(text, line_starts(text), position, encoding) == offset
    assert position_at(text, line_starts(text), offset, encoding) == position


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["", "ascii\ntext", "ä😀\r\n\n日本\r\x0c𝒳\n", "lone \ud83d half"])
def test_every_offset_survives_the_way_to_a_position_and_back(text: str, encoding: str) -> None:
    starts = line_starts(text)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] == "\r\n":
            continue  # there is no position between CR and LF
        position = position_at(text, starts, offset, encoding)
        assert offset_at(text, starts, position, encoding) == offset


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_character_beyond_the_line_is_the_end_of_the_line(end: str) -> None:
    text = f"one{end}two"
    assert offset_at(text, line_starts(text), Position(0, 99), "utf-16") == 3


def test_a_line_beyond_the_text_is_the_end_of_the_text() -> None:
    text = "one\ntwo"
    assert offset_at(text, line_starts(text), Position(9, 0), "utf-16") == len(text)


@pytest.mark.parametrize(("encoding", "character"), [("utf-16", 1), ("utf-8", 2)])
def test_a_position_within_a_character_is_the_one_before_it(encoding: str, character: int) -> None:
    assert offset_at("😀", line_starts("😀"), Position(0, character), encoding) == 0
