"""Ghost text only inserts; the cache answers typing along; quick keys wait; a chain runs ahead."""

import asyncio
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from open_documents import seen

from intarsia.infill.filling.plan import inserted_at_cursor
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, Suggestion
from intarsia.lsp.ahead_chain import AheadChain, Step
from intarsia.lsp.ghost_text import GhostText
from intarsia.lsp.suggestions import CachedSuggestions, Debounce, SuggestionCache


def known(*texts: str, is_complete: bool = False) -> CachedSuggestions:
    ghosts = (GhostText(text, (ConfidentToken(text, 0.5),)) for text in texts)
    return CachedSuggestions(ghosts=tuple(ghosts), is_complete=is_complete)


def test_candidates_that_were_not_typed_along_fall_away() -> None:
    cache = SuggestionCache()
    cache.store(seen("|"), known("foo()", "bar()", "fun()", is_complete=True))
    assert cache.lookup(seen("f|")) == known("oo()", "un()", is_complete=True)


def test_another_text_before_after_or_another_document_is_a_miss() -> None:
    cache = SuggestionCache()
    cache.store(seen("x = |\n"), known("foo()"))
    for other in ("y = |\n", "x = |\n\n", "x = g|\n", "x =|\n", "x = foo()|\n"):
        assert cache.lookup(seen(other)) == CachedSuggestions(), other
    assert cache.lookup(seen("x = |\n", uri="file:///b.py")) == CachedSuggestions()


@pytest.mark.parametrize(
    ("shown", "at", "left"),
    [
        ("total(a, b)", "total(|)", "a, b"),
        ("total(a, b) + 1", "total(|)", "a, b"),
        ("total(a[0], b)", "total(a[|])", "0"),
        ("total(a[0], b)", "total(a[0]|)", ", b"),
        ("total(a, b)", "total(a, b)|", None),
        ("total((a, b), c)", "total((|))", "a, b"),
        ('get("name", 1)', 'get("|")', "name"),
        ("{\n    a: 1,\n}", "{\n    |\n}", "a: 1,"),
        ("call(\n    a,\n)", "call(|)", "\n    a,\n"),
        ("total()", "total(|)", None),
        ("total(a, b)", "total(|]", None),
        ("total(a, b)", "total|)", None),
    ],
)
def test_typing_along_goes_on_inside_what_the_editor_closes(
    shown: str, at: str, left: str | None
) -> None:
    cache = SuggestionCache()
    cache.store(seen("x = |\ny = 2\n"), known(shown))
    kept = known(left) if left else CachedSuggestions()
    assert cache.lookup(seen(f"x = {at}\ny = 2\n")) == kept


def test_a_suggestion_is_hidden_from_where_it_was_before_the_editor_closed() -> None:
    cache = SuggestionCache()
    tokens = (ConfidentToken("f(a, ", 0.9), ConfidentToken("b)", 0.1))
    cache.store(seen("|\n"), CachedSuggestions(ghosts=(GhostText("f(a, b)", tokens, 5),)))
    (ghost,) = cache.lookup(seen("f(|)\n")).ghosts
    assert (ghost.text, ghost.shown.text) == ("a, b", "a, ")
    assert [token.text for token in ghost.tokens] == ["a, ", "b"]


def test_what_was_shown_last_stays_shown() -> None:
    cache = SuggestionCache()
    cache.store(seen("|"), known("foo(1)"))
    cache.store(seen("f|"), known("oo(2)"))
    assert cache.lookup(seen("f|")) == known("oo(2)")
    assert cache.lookup(seen("fo|")) == known("o(2)")
    assert cache.lookup(seen("|")) == known("foo(1)")
    assert cache.lookup(seen("fo|")) == known("o(1)")


def test_the_least_recently_used_entry_goes_first() -> None:
    cache = SuggestionCache(capacity=2)
    cache.store(seen("a|"), known("1"))
    cache.store(seen("b|"), known("2"))
    cache.lookup(seen("a|"))
    cache.store(seen("c|"), known("3"))
    assert cache.lookup(seen("a|")) == known("1")
    assert cache.lookup(seen("b|")) == CachedSuggestions()


texts = st.lists(st.text("ab( )\n\u00fc\U0001f600", min_size=1, max_size=4), min_size=1, max_size=6)


@given(texts.filter(lambda parts: bool("".join(parts).strip())))
def test_typing_along_sign_by_sign_keeps_tokens_and_text_together(parts: list[str]) -> None:
    text = "".join(parts)
    tokens = tuple(ConfidentToken(part, 1 / (at + 1)) for at, part in enumerate(parts))
    cache = SuggestionCache()
    cache.store(seen("x = |\n"), CachedSuggestions(ghosts=(GhostText(text, tokens),)))
    for typed in range(len(text.rstrip())):
        (left,) = cache.lookup(seen(f"x = {text[:typed]}|\n")).ghosts
        assert left.text == text[typed:]
        assert "".join(token.text for token in left.tokens) == left.text
        assert left.tokens[-1].confidence == tokens[-1].confidence


def test_that_nothing_fits_is_known_of_that_very_cursor_only() -> None:
    cache = SuggestionCache()
    cache.store(seen("x = 1|\n"), CachedSuggestions(reason="nothing fits"))
    assert cache.lookup(seen("x = 1|\n")).reason == "nothing fits"
    assert cache.lookup(seen("x = 12|\n")) == CachedSuggestions()
    assert cache.has(seen("x = 1|\n"))
    assert not cache.has(seen("x = 12|\n"))


def test_an_answer_asked_ahead_is_so_once() -> None:
    cache = SuggestionCache()
    ahead = CachedSuggestions(ghosts=known("12").ghosts, ahead_s=0.5)
    cache.store(seen("x = |\n"), ahead)
    assert cache.lookup(seen("x = 1|\n")).ahead_s == 0.5
    assert cache.lookup(seen("x = |\n")) == known("12")


def test_a_shown_suggestion_is_found_although_nothing_fits_later_in_it() -> None:
    cache = SuggestionCache()
    cache.store(seen("x = |\n"), known("foo()", "foo() + 1"))
    nothing = CachedSuggestions(reason="nothing fits", ahead_s=1.0)
    cache.store(seen("x = foo()|\n"), nothing)
    assert cache.lookup(seen("x = foo()|\n")).ghosts == known(" + 1").ghosts
    cache.store(seen("x = bar()|\n"), nothing)
    assert cache.lookup(seen("x = bar()|\n")) == nothing
    assert cache.lookup(seen("x = bar()|\n")).ahead_s is None


def place(drawing: str, text: str) -> str | NoSuggestion:
    plain, bare = drawing.replace("[", "").replace("]", ""), drawing.replace("|", "")
    start, end = bare.index("["), bare.index("]") - 1
    suggestion = Suggestion(text=text, start=start, end=end)
    return inserted_at_cursor(suggestion, plain.replace("|", ""), plain.index("|"))


def ghost(*texts: str) -> GhostText:
    """Return a ghost text of these tokens, each surer than the one before."""
    tokens = (ConfidentToken(text, number / 10) for number, text in enumerate(texts))
    return GhostText("".join(texts), tuple(tokens))


@pytest.mark.parametrize(
    ("drawing", "suggested", "shown"),
    [
        ("x = |[]", "1", "1"),
        ("[x = |]", "x = 1", "1"),
        ("f(|[)]", "a, b)", "a, b"),
        ("f(|[);]", "a);", "a"),
        ("[x = |;]", "x = 1;", "1"),
        ("x =|[]", " 1", " 1"),
        ("|[]", "a\nb", "a\nb"),
    ],
)
def test_ghost_text_is_what_goes_in_at_the_cursor(drawing: str, suggested: str, shown: str) -> None:
    assert place(drawing, suggested) == shown


@pytest.mark.parametrize(
    ("drawing", "suggested", "reason"),
    [
        ("[x] = |", "y", "not at the cursor"),
        ("| []", "y", "not at the cursor"),
        ("[xy|]", "yx", "left of the cursor"),
        ("f(|[a)]", "b)", "right of the cursor"),
        ("[aa|aa]", "aaa", "right of the cursor"),
        ("f(|[)]", ")", "adds nothing"),
        ("x = |[]", "  ", "adds nothing"),
    ],
)
def test_what_would_change_text_is_no_ghost_text(drawing: str, suggested: str, reason: str) -> None:
    found = place(drawing, suggested)
    assert isinstance(found, NoSuggestion)
    assert reason in found.reason


def test_typing_along_cuts_a_token_in_two_and_keeps_its_confidence() -> None:
    left = ghost("ab", "cd", "ef").after_typing("abc")
    assert left.tokens == (ConfidentToken("d", 0.1), ConfidentToken("ef", 0.2))


@pytest.mark.parametrize("typed", ["b", "a + 1", "a + 1x"])
def test_typing_something_else_or_all_of_it_leaves_nothing(typed: str) -> None:
    assert ghost("a", " +", " 1").after_typing(typed) is None


def test_a_part_is_shown_and_the_whole_is_kept() -> None:
    whole = replace(ghost("a", " +", " 1"), shown_length=3)
    assert whole.shown.text == "a +"
    assert [token.text for token in whole.shown.tokens] == ["a", " +"]
    assert not whole.is_hidden
    assert replace(whole, shown_length=0).is_hidden


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("", "a +"), ("a", " +"), ("a ", "+"), ("a +", None), ("a + ", None), ("b", None)],
)
def test_typing_along_keeps_the_part_that_is_shown(typed: str, shown: str | None) -> None:
    left = replace(ghost("a", " +", " 1"), shown_length=3).after_typing(typed)
    assert (None if left is None else left.shown.text) == shown


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
def test_only_keys_in_quick_succession_wait(pauses_s, debounce_ms, waited_s):
    assert waits(*pauses_s, debounce_ms=debounce_ms) == waited_s


def test_another_document_has_a_rhythm_of_its_own() -> None:
    debounce = Debounce(Clock())
    assert debounce.seconds_to_wait("a", 75) == 0
    assert debounce.seconds_to_wait("b", 75) == 0


def foreseen(text: str) -> Step:
    return Step(seen(f"{text}|"))


class Filler:
    """Fills each place once it is let go on."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.filled: list[str] = []
        self.has_begun, self.may_end = asyncio.Event(), asyncio.Event()

    async def fill(self, step: Step) -> None:
        self.begun.append(step.place.text)
        self.has_begun.set()
        await self.may_end.wait()
        self.filled.append(step.place.text)

    async def all_filled(self, chain: AheadChain) -> list[str]:
        self.may_end.set()
        if chain._task is not None:
            await asyncio.wait({chain._task}, timeout=5)
        return self.filled


async def started(*texts: str) -> tuple[AheadChain, Filler]:
    chain, filler = AheadChain(lambda count: None), Filler()
    chain.start([foreseen(it) for it in texts], filler.fill, begins_at=0)
    await filler.has_begun.wait()
    return chain, filler


async def test_each_place_waits_until_it_may_be_filled() -> None:
    may_fill, filler = asyncio.Event(), Filler()

    async def wait() -> None:
        await may_fill.wait()

    chain = AheadChain(lambda count: None)
    chain.start([foreseen("a"), foreseen("b")], filler.fill, begins_at=0, wait=wait)
    await asyncio.sleep(0.05)
    assert (filler.begun, chain.is_running, chain.is_filling) == ([], True, False)
    may_fill.set()
    await filler.has_begun.wait()
    assert (filler.begun, chain.is_filling) == (["a"], True)
    assert await filler.all_filled(chain) == ["a", "b"]
    assert not chain.is_filling


async def test_until_it_begins_one_step_is_taken_which_may_be_cut_short() -> None:
    chain, filler = AheadChain(lambda count: None), Filler()
    begins_at = time.monotonic() + 0.2
    chain.start([foreseen("b")], filler.fill, begins_at=begins_at, until_then=foreseen("a"))
    await filler.has_begun.wait()
    assert time.monotonic() < begins_at
    filler.has_begun.clear()
    await filler.has_begun.wait()
    assert time.monotonic() >= begins_at
    assert (filler.begun, await filler.all_filled(chain)) == (["a", "b"], ["b"])


async def test_what_is_filled_now_goes_on_and_the_new_places_follow() -> None:
    chain, filler = await started("a", "b")
    chain.start([foreseen("c"), foreseen("a")], filler.fill, begins_at=time.monotonic() + 60)
    assert await filler.all_filled(chain) == ["a", "c"]
    assert filler.begun == ["a", "c"]


async def test_a_document_that_was_foreseen_ends_nothing_and_any_other_does() -> None:
    chain, filler = await started("a", "b")
    chain.document_changed("file:///a.py", "b")
    assert chain.is_running
    chain.document_changed("file:///a.py", "x")
    assert await filler.all_filled(chain) == []


async def test_an_error_ends_the_chain_and_no_more() -> None:
    async def fail(_step: Step) -> None:
        raise ValueError("a bug")

    chain = AheadChain(lambda count: None)
    chain.start([foreseen("a"), foreseen("b")], fail, begins_at=0)
    assert await Filler().all_filled(chain) == []
