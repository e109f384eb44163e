"""What a server counts in any editor, and the counts on disk."""

import stat
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from editor_clients import Page, open_document, page

from intarsia.engine.ipc.address import Address
from intarsia.lsp.settings import Settings
from intarsia.lsp.statistics import (
    MAX_BYTES,
    MAX_KINDS,
    Counts,
    LanguageCounts,
    add_counts,
    plain_settings,
    read_counts,
    read_last_settings,
    statistics_file,
    write_last_settings,
)

OPTIONS = {"fillAhead": "off", "nextEdit": "off"}
SHOWN = "first + second"


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))


@asynccontextmanager
async def suggested(runtime: Address, **options: object) -> AsyncIterator[Page]:
    """Open a document with a suggestion on show; the counts are kept when the server ends."""
    async with page(runtime, "x = \n", text=SHOWN, options={**OPTIONS, **options}) as user:
        assert await user.shown(0, 4)
        yield user


def insert(user: Page, texts: Sequence[str]) -> None:
    at = 4
    for text in texts:
        user.insert(0, at, text)
        at += len(text)


def counts() -> Counts:
    return read_counts(statistics_file()).counts


ACCEPTED = LanguageCounts(shown=1, accepted=1, kept=1, ended=1)


@pytest.mark.parametrize(
    "texts", [[SHOWN], ["first", " +", " second"], list(SHOWN), ["first"], ["fir", "st + second"]]
)
async def test_an_accept_is_counted_once_whole_in_words_or_typed_along(runtime, texts):
    async with suggested(runtime) as user:
        insert(user, texts)
    assert counts().languages == {"python": ACCEPTED}


async def test_something_else_that_is_typed_is_no_accept(runtime: Address) -> None:
    async with suggested(runtime) as user:
        insert(user, ["f", "o", "o"])
    assert counts().languages == {"python": LanguageCounts(shown=1)}


async def test_a_rest_that_is_shown_again_is_the_same_suggestion(runtime: Address) -> None:
    async with suggested(runtime) as user:
        assert await user.shown(0, 4, is_invoked=True)
        insert(user, ["fi"])
        assert await user.shown(0, 6)
    assert counts().total == LanguageCounts(shown=1)


async def test_what_is_deleted_again_was_not_kept(runtime: Address) -> None:
    async with suggested(runtime) as user:
        insert(user, [SHOWN])
        user.change("x = \n")
    assert counts().total == LanguageCounts(shown=1, accepted=1, kept=0, ended=1)


async def test_requests_without_a_suggestion_are_counted_by_their_reason(runtime: Address) -> None:
    async with suggested(runtime, disabledLanguages=["go"], inStrings=False) as user:
        other = Page(user.client, open_document(user.client, "b.go", "x := ", "go"))
        await other.shown(0, 5)
        insert(user, ['"a '])
        await user.shown(0, 7)
    assert counts().not_shown == {"language": 1, "string": 1}


async def test_nothing_is_counted_where_statistics_are_off(runtime: Address) -> None:
    async with suggested(runtime, statistics=False) as user:
        insert(user, [SHOWN])
    assert not statistics_file().exists()


def shown(language: str = "python", number: int = 1) -> Counts:
    return Counts(languages={language: LanguageCounts(shown=number)})


def test_counts_add_up(tmp_path: Path) -> None:
    path = tmp_path / "new" / "statistics.json"
    add_counts(path, shown())
    add_counts(path, Counts(languages={"python": LanguageCounts(accepted=1, ended=1)}))
    add_counts(path, Counts(not_shown={"deleted": 1}))
    kept = read_counts(path)
    assert kept.counts.languages == {"python": LanguageCounts(shown=1, accepted=1, ended=1)}
    assert kept.counts.not_shown == {"deleted": 1}
    assert kept.since
    assert not stat.S_IMODE(path.stat().st_mode) & 0o077


def test_servers_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "statistics.json"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: add_counts(path, shown()), range(40)))
    assert read_counts(path).counts.total.shown == 40


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\x00", b'{"counts": 99}', b"[" * MAX_BYTES, b'{"since": 7}']
)
def test_a_damaged_file_is_started_again(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "statistics.json"
    path.write_bytes(content)
    assert read_counts(path).counts.is_empty
    add_counts(path, shown())
    assert read_counts(path).counts.total.shown == 1


def test_no_text_gets_into_it_and_it_stays_small(tmp_path: Path) -> None:
    path = tmp_path / "statistics.json"
    for number in range(300):
        add_counts(path, shown(f"secret-{number}"))
    kinds = {f"kind_{number}": 1 for number in range(300)}
    add_counts(path, Counts(not_shown={**kinds, "/home/user/secret.py": 1}))
    counts = read_counts(path).counts
    assert counts.languages == {"other": LanguageCounts(shown=300)}
    assert len(counts.not_shown) <= MAX_KINDS + 1
    assert sum(counts.not_shown.values()) == 301
    assert b"secret" not in path.read_bytes()
    assert path.stat().st_size < MAX_BYTES


def test_settings_for_a_report_have_no_text_of_the_users(tmp_path: Path) -> None:
    settings = Settings(
        model="/home/user/secret.gguf",
        exclude=("secret/**",),
        languages={"python": {"inStrings": True}},
        next_edit="bold",
        debounce_ms=10,
    )
    assert plain_settings(settings) == {
        "model": "(a text)",
        "exclude": "(1 entries)",
        "languages": "(1 entries)",
        "nextEdit": "bold",
        "debounceMs": 10,
    }
    path = tmp_path / "last-settings.json"
    assert read_last_settings(path) is None
    write_last_settings(path, settings)
    assert read_last_settings(path) == plain_settings(settings)
    path.write_bytes(msgspec.json.encode({"secret": 1}))
    assert read_last_settings(path) == {}
