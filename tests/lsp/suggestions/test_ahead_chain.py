"""One chain at a time; what it fills now goes on where the next chain wants it too."""

import asyncio
import time

from open_documents import seen

from intarsia.lsp.ahead_chain import AheadChain
from intarsia.lsp.documents.snapshot import Snapshot


def place(text: str) -> Snapshot:
    return seen(f"{text}|")


class Filler:
    """Fills each place once it is let go on."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.filled: list[str] = []
        self.has_begun, self.may_end = asyncio.Event(), asyncio.Event()

    async def fill(self, place: Snapshot) -> None:
        self.begun.append(place.text)
        self.has_begun.set()
        await self.may_end.wait()
        self.filled.append(place.text)

    async def all_filled(self, chain: AheadChain) -> list[str]:
        self.may_end.set()
        if chain._task is not None:
            await asyncio.wait({chain._task}, timeout=5)
        return self.filled


async def started(*texts: str) -> tuple[AheadChain, Filler]:
    chain, filler = AheadChain(lambda count: None), Filler()
    chain.start([place(it) for it in texts], filler.fill, begins_at=0)
    await filler.has_begun.wait()
    return chain, filler


async def test_each_place_waits_until_it_may_be_filled() -> None:
    may_fill, filler = asyncio.Event(), Filler()

    async def wait() -> None:
        await may_fill.wait()

    chain = AheadChain(lambda count: None)
    chain.start([place("a"), place("b")], filler.fill, begins_at=0, wait=wait)
    await asyncio.sleep(0.05)
    assert (filler.begun, chain.is_running, chain.is_filling) == ([], True, False)
    may_fill.set()
    await filler.has_begun.wait()
    assert (filler.begun, chain.is_filling) == (["a"], True)
    assert await filler.all_filled(chain) == ["a", "b"]
    assert not chain.is_filling


async def test_what_is_filled_now_goes_on_and_the_new_places_follow() -> None:
    chain, filler = await started("a", "b")
    chain.start([place("c"), place("a")], filler.fill, begins_at=time.monotonic() + 60)
    assert await filler.all_filled(chain) == ["a", "c"]
    assert filler.begun == ["a", "c"]


async def test_a_document_that_was_foreseen_ends_nothing_and_any_other_does() -> None:
    chain, filler = await started("a", "b")
    chain.document_changed("file:///a.py", "b")
    assert chain.is_running
    chain.document_changed("file:///a.py", "x")
    assert await filler.all_filled(chain) == []


async def test_an_error_ends_the_chain_and_no_more() -> None:
    async def fail(_place: Snapshot) -> None:
        raise ValueError("a bug")

    chain = AheadChain(lambda count: None)
    chain.start([place("a"), place("b")], fail, begins_at=0)
    assert await Filler().all_filled(chain) == []
