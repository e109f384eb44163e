"""The dial: how probable it must be that the user keeps a suggestion, for it to be shown."""

from collections.abc import Callable

import pytest
from headless_nvim import Neovim

from intarsia.infill.calibration.threshold import IMPROBABLE
from intarsia.lsp.statistics.file import read_counts, statistics_file

# By the calibration of the default model: "alpha" alone is kept with 92 %, all of it with 27 %.
# The text with two unsure words is kept with 5 %.
RULES = {
    "rules": [("one =", "alpha + maybe"), ("two =", "maybe + maybe")],
    "text": "",
    "unsure": ["maybe"],
}
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "fillAhead": "off"}}
WHOLE, BEGINNING, NOTHING = "alpha + maybe", "alpha", None
Edit = Callable[..., Neovim]


@pytest.mark.parametrize(
    ("threshold", "shown"),
    [
        ("eager", WHOLE),
        ("balanced", BEGINNING),
        ("subtle", BEGINNING),
        (0, WHOLE),
        (30, BEGINNING),
        (95, NOTHING),
    ],
)
def test_it_decides_how_much_is_shown_while_the_user_types(
    edit: Edit, threshold: str | int, shown: str | None
) -> None:
    nvim = edit("one =\n", f"{threshold}.py")
    nvim.change_settings(showThreshold=threshold)
    nvim.keys("A<Space>")
    if shown is None:
        nvim.is_silent("would probably not be kept: 27 %, and")
    else:
        nvim.shows(shown)


def test_what_it_hides_is_counted_and_shown_when_a_key_asks(edit: Edit) -> None:
    nvim = edit("two =\n")
    nvim.change_settings(showThreshold="subtle")
    before = read_counts(statistics_file()).counts.not_shown.get(IMPROBABLE, 0)
    nvim.keys("A<Space>")
    nvim.is_silent("would probably not be kept: 5 %, and")
    nvim.keys("<M-n>")
    nvim.shows("maybe + maybe")
    nvim.keys("<Esc>")
    nvim.restart_server()
    after = read_counts(statistics_file()).counts.not_shown[IMPROBABLE]
    assert after - before >= 1
