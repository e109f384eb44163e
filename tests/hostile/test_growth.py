"""No text of a file makes a stage take more than time in proportion to its length.

What is measured is this process' CPU time, without the garbage collector's walks through the heap
of all other tests. A stage that seems to grow is measured again with other texts.
"""

import gc
import time
from collections.abc import Callable, Iterator, Mapping

import pytest
from hostile_texts import HOSTILE_TEXTS, Hostile
from text_stages import STAGES, Subject

from intarsia.infill.languages import language_for_id

SHORT, LONG = 15_000, 60_000
MOST_GROWTH = 2.5 * LONG / SHORT
"""In proportion it is 4 times; quadratic time grows 16 times."""
FLOOR_S = 0.06
"""A shorter time is noise, and counts as this."""
MOST_S = 4.0
TRIES = 3


@pytest.fixture(autouse=True)
def no_garbage_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def seconds(hostile: Hostile, num_chars: int) -> Mapping[str, float]:
    """Return what each stage takes; what one has parsed, the next ones find parsed."""
    language = language_for_id(hostile.language)
    subject = Subject(hostile.text(num_chars), language, hostile.cursor(num_chars))
    return {name: cost(stage, subject) for name, stage in STAGES.items()}


def cost(stage: Callable[[Subject], None], subject: Subject) -> float:
    started = time.process_time()
    stage(subject)
    return time.process_time() - started


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_time_grows_with_length_alone(name: str) -> None:
    grown: Mapping[str, str] = dict.fromkeys(STAGES, "")
    for attempt in range(TRIES):
        # Another length is another text: nothing of it has been parsed before.
        short, long = (seconds(HOSTILE_TEXTS[name], length + attempt) for length in (SHORT, LONG))
        grown = {
            stage: f"{short[stage]:.2f} s, then {long[stage]:.2f} s"
            for stage in grown
            if long[stage] > min(MOST_S, MOST_GROWTH * max(short[stage], FLOOR_S))
        }
        if not grown:
            return
    assert grown == {}
