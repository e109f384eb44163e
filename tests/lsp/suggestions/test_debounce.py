"""A lone key waits for nothing; keys in quick succession wait for a pause."""

from intarsia.lsp.suggestions.debounce import Debounce


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


def test_a_lone_key_waits_for_nothing() -> None:
    assert waits() == [0]
    assert waits(0.31, 60) == [0, 0, 0]


def test_keys_in_quick_succession_wait() -> None:
    assert waits(0.1, 0.14) == [0, 0.075, 0.075]


def test_a_steady_typist_waits_for_nothing() -> None:
    assert waits(0.2, 0.16, 0.2) == [0, 0, 0, 0]


def test_a_longer_wait_is_for_slower_typists() -> None:
    assert waits(0.5, 0.7, debounce_ms=300) == [0, 0.3, 0]


def test_the_first_key_after_a_pause_waits_for_nothing_again() -> None:
    assert waits(0.1, 0.5, 0.1) == [0, 0.075, 0, 0.075]


def test_another_document_has_a_rhythm_of_its_own() -> None:
    debounce = Debounce(Clock())
    assert debounce.seconds_to_wait("a", 75) == 0
    assert debounce.seconds_to_wait("b", 75) == 0


def test_who_wants_no_debounce_gets_none() -> None:
    assert waits(0.1, debounce_ms=0) == [0, 0]
