"""Text of a file made safe and steady for a terminal: no escape sequences, no jumping tabs."""

_TAB = "    "
_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32)} | {0x7F: 0x2421}
_C1_CONTROLS = dict.fromkeys(range(0x80, 0xA0), "\N{REPLACEMENT CHARACTER}")
# Right-to-left and invisible marks could show a line as what it is not.
_DIRECTION_MARKS = dict.fromkeys(
    [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)],
    "\N{REPLACEMENT CHARACTER}",
)
_SHOWN = _CONTROL_PICTURES | _C1_CONTROLS | _DIRECTION_MARKS | {0x09: _TAB, 0x0A: "\n"}


def displayable(text: str) -> str:
    """Return the text with one LF per line end and a visible sign for every control character."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_SHOWN)
