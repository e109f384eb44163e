"""The language of code without a name, on real files of each language."""

import random
from collections import Counter

import pytest
from real_files import REAL_FILES

from intarsia.cli.api.holes.guess import guess_language
from intarsia.infill.languages import language_for_path

SHOWN_BEFORE, SHOWN_AFTER = 1200, 600
SAME = {"c": "cpp", "typescript": "javascript"}  # the one's grammar reads most of the other


def test_real_code_is_recognised_or_not_known_and_rarely_taken_for_another():
    rng, told = random.Random(0), Counter[str]()
    for path, text in REAL_FILES.items():
        language = language_for_path(path.name).id
        if language in ("plaintext", "json", "markdown"):
            continue
        for _ in range(4):
            cursor = rng.randrange(len(text))
            before, after = text[:cursor][-SHOWN_BEFORE:], text[cursor:][:SHOWN_AFTER]
            guess = guess_language(before, after).id
            if guess == "plaintext":
                told["unknown"] += 1
            else:
                is_right = SAME.get(guess, guess) == SAME.get(language, language)
                told["right" if is_right else "wrong"] += 1
    assert told.total() > 300
    assert told["right"] / told.total() > 0.85
    assert told["wrong"] / told.total() < 0.03


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "Dear reader,\n\nthis is a letter.\nIt has lines.\n\nYours\n",
        "def f():\n",  # one line is no evidence
        "a: 1\nb:\n  - c\n  - d\n",
        "x" * 100_000,
    ],
)
def test_what_tells_nothing_is_plain_text(text: str):
    assert guess_language(text, "").id == "plaintext"


def test_typing_in_a_line_does_not_change_it():
    prefix = "import os\n\n\ndef f(a):\n    if a:\n        return os.sep\n    "
    for typed in ("", "fn ", "let x = ", "end"):
        assert guess_language(prefix + typed, "\n\n").id == "python"
