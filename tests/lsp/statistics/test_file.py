"""The counts on disk: added to by several servers, started again where damaged, and bounded."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from intarsia.lsp.settings import Settings
from intarsia.lsp.statistics.counts import (
    MAX_KINDS,
    Counts,
    LanguageCounts,
    not_shown,
)
from intarsia.lsp.statistics.file import (
    MAX_BYTES,
    add_counts,
    plain_settings,
    read_counts,
    read_last_settings,
    write_last_settings,
)


def shown(language: str = "python", number: int = 1) -> Counts:
    return Counts(languages={language: LanguageCounts(shown=number)})


def test_counts_add_up(tmp_path: Path) -> None:
    path = tmp_path / "new" / "statistics.json"
    add_counts(path, shown())
    add_counts(path, Counts(languages={"python": LanguageCounts(accepted=1, ended=1)}))
    add_counts(path, not_shown("deleted"))
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
    "content",
    [b"", b"{", b"[]", b"\xff\x00", b'{"counts": 99}', b"[" * MAX_BYTES, b'{"since": 7}'],
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
