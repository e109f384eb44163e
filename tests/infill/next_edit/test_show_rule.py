"""Three levels by the gain, the double difference, the answer's likelihood and agreement."""

import math

import pytest

from intarsia.engine.ipc.messages import NextEdit
from intarsia.infill.next_edit.show_rule import Level, double_difference, is_shown, level_of


def correction(
    gain: float = 12.0, gain_before: float = 0.0, log_p: float = -0.5, is_agreed: bool = True
) -> NextEdit:
    return NextEdit(
        first_line=0,
        num_lines=1,
        text="x\n",
        drop=5.0,
        gain=gain,
        gain_before=gain_before,
        log_p=log_p,
        is_agreed=is_agreed,
    )


@pytest.mark.parametrize(
    ("edit", "is_deletion", "level"),
    [
        (correction(), False, "sure"),
        (correction(is_agreed=False), False, "sure"),
        (correction(log_p=-1.0), False, "sure"),
        (correction(log_p=-1.0, is_agreed=False), False, "balanced"),
        (correction(log_p=-2.0), False, "bold"),
        (correction(), True, "bold"),
        (correction(gain=7.1), False, "sure"),
        (correction(gain=7.0), False, "bold"),
        (correction(gain=4.1), False, "bold"),
        (correction(gain=4.0), False, None),
        (correction(gain=12.0, gain_before=8.0), False, None),  # likelier before the edit too
        (correction(gain=0.0, gain_before=-20.0), False, None),
        (correction(gain=0.1, gain_before=-20.0), False, "sure"),
        (correction(gain=math.nan), False, None),
        (correction(log_p=math.nan), False, "bold"),
    ],
)
def test_the_level_of_a_correction(edit: NextEdit, is_deletion: bool, level: Level | None) -> None:
    assert level_of(edit, is_deletion=is_deletion) == level


def test_the_double_difference_is_the_edits_own_share() -> None:
    assert double_difference(correction(gain=3.0, gain_before=-2.0)) == 5.0


def test_each_level_shows_those_that_are_surer() -> None:
    levels: tuple[Level, ...] = ("sure", "balanced", "bold")
    shown = {least: [level for level in levels if is_shown(level, least)] for least in levels}
    assert shown == {"sure": ["sure"], "balanced": ["sure", "balanced"], "bold": list(levels)}
