"""An accepted text is followed through later changes, and judged when its time is over."""

import asyncio

from intarsia.infill.syntax.difference import replaced_range
from intarsia.infill.text_change import TextChange, TextRange
from intarsia.lsp.manners.watched import MAX_ACCEPTED, KeptTexts


class Kept:
    """A document in which a text was accepted."""

    def __init__(self, before: str, accepted: str) -> None:
        self.ends: list[bool] = []
        self.texts = KeptTexts(self.ends.append, after_s=3600)
        self.document = before.replace("|", accepted)
        start = before.index("|")
        self.texts.add(TextRange(start=start, end=start + len(accepted)), self.document)

    def becomes(self, document: str) -> bool:
        start, old_end, new_end = replaced_range(self.document, document)
        change = TextChange(
            start=start,
            removed=self.document[start:old_end],
            inserted=document[start:new_end],
        )
        self.document = document
        return self.texts.move(change, document)


async def test_it_is_kept_while_other_text_changes() -> None:
    kept = Kept("x = |\n", "a+b")
    assert not kept.becomes("import os\nx = a+b\n")
    kept.becomes("import os\nx = a+b  # why\n")
    kept.texts.close()
    assert kept.ends == [True]


async def test_white_space_in_it_may_change() -> None:
    kept = Kept("x = |\n", "a+b")
    kept.becomes("x = a + b\n")
    kept.texts.close()
    assert kept.ends == [True]


async def test_another_character_in_it_is_not_kept() -> None:
    kept = Kept("x = |\n", "a+b")
    kept.becomes("x = a-b\n")
    kept.texts.close()
    assert kept.ends == [False]


async def test_it_is_told_at_once_when_all_of_it_is_taken_back() -> None:
    kept = Kept("x = |\n", "a+b")
    assert kept.becomes("x = \n")
    assert kept.ends == [False]
    kept.texts.close()
    assert kept.ends == [False]


async def test_more_of_the_same_suggestion_is_one_text() -> None:
    kept = Kept("x = |\n", "a")
    kept.becomes("x = a+b\n")
    kept.texts.add(TextRange(start=4, end=7), kept.document)
    kept.texts.close()
    assert kept.ends == [True]


async def test_its_time_ends_by_itself() -> None:
    ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    texts = KeptTexts(ended.set_result, after_s=0)
    texts.add(TextRange(start=0, end=1), "a")
    assert await ended is True


async def test_they_are_bounded() -> None:
    ends: list[bool] = []
    texts = KeptTexts(ends.append, after_s=3600)
    document = "ab" * (MAX_ACCEPTED + 5)
    for number in range(MAX_ACCEPTED + 5):
        texts.add(TextRange(start=2 * number, end=2 * number + 1), document)
    assert len(ends) == 5
    texts.close()
