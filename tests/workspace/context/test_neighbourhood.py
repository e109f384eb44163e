"""The words around a hole, and what is left of the dot."""

import pytest
from context_places import HOLE, place_in

from intarsia.workspace.context.neighbourhood import NUM_LINES_ABOVE, neighbourhood_of
from intarsia.workspace.words import words_of


def test_nearer_lines_weigh_more_above_and_below() -> None:
    text = f"far_name\n\n\n\nnear_name\n\n{HOLE}\n\nbelow_name\n\n\nfar_below\n"
    mentions = neighbourhood_of(place_in("a.py", text)).mentions
    assert mentions["near_name"] > mentions["far_name"] > 0
    assert mentions["below_name"] > mentions["far_below"] > 0


def test_lines_too_far_away_do_not_count() -> None:
    text = "far_name\n" + "\n" * (NUM_LINES_ABOVE + 1) + f"x{HOLE}\n"
    assert "far_name" not in neighbourhood_of(place_in("a.py", text)).mentions


def test_identifiers_are_compared_by_their_words() -> None:
    text = f"parseHttpHeaders({HOLE})\n"
    assert set(neighbourhood_of(place_in("a.ts", text)).words) >= set(words_of("parse_http_header"))


@pytest.mark.parametrize(
    ("line", "receiver"),
    [
        (f"user.{HOLE}", "user"),
        (f"user.na{HOLE}", "user"),
        (f"x = self.client.user.{HOLE}", "self.client.user"),
        (f"this.user?.{HOLE}", "this.user"),
        (f"user->{HOLE}", "user"),
        (f"User::{HOLE}", "User"),
        (f"super().{HOLE}", "super()"),
        (f"find(user).{HOLE}", ""),
        (f"user{HOLE}", ""),
        (f"1.{HOLE}", ""),
        (f"user.\n{HOLE}", ""),
    ],
)
def test_the_receiver_at_the_hole(line: str, receiver: str) -> None:
    assert neighbourhood_of(place_in("a.ts", line)).receiver == receiver


def test_the_line_of_the_hole() -> None:
    assert neighbourhood_of(place_in("a.py", f"a\r\nb\r\n{HOLE}")).line == 2
