"""How long a request waits for the next key."""

import pytest

from intarsia.lsp.suggestions import Debounce


class Clock:
    """Seconds, told by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def waits(*pauses_s: float, debounce_ms: int = 75) -> list[float]:
    """Return how long each request of one document waits; ``pauses_s`` lie between them."""
    clock = Clock()
    debounce = Debounce(clock)
    found = [debounce.seconds_to_wait("a", debounce_ms)]
    for pause_s in pauses_s:
        clock.now += pause_s
        found.append(debounce.seconds_to_wait("a", debounce_ms))
    return found


@pytest.mark.parametrize(
    ("pauses_s", "debounce_ms", "waited_s"),
    [
        ([], 75, [0]),
        ([0.31, 60], 75, [0, 0, 0]),
        ([0.1, 0.14], 75, [0, 0.075, 0.075]),  # keys in quick succession
        ([0.2, 0.16, 0.2], 75, [0, 0, 0, 0]),  # a steady typist
        ([0.5, 0.7], 300, [0, 0.3, 0]),  # a longer wait is for slower typists
        ([0.1, 0.5, 0.1], 75, [0, 0.075, 0, 0.075]),  # the first key after a pause
        ([0.1], 0, [0, 0]),
    ],
)
def test_only_keys_in_quick_succession_wait(
    pauses_s: list[float], debounce_ms: int, waited_s: list[float]
) -> None:
    assert waits(*pauses_s, debounce_ms=debounce_ms) == waited_s


def test_another_document_has_a_rhythm_of_its_own() -> None:
    debounce = Debounce(Clock())
    assert debounce.seconds_to_wait("a", 75) == 0
    assert debounce.seconds_to_wait("b", 75) == 0
