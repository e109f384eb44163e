"""Changed keys and quotas take effect at once, and no owner reads another owner's text."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from toy_causal import save_toy, toy_causal_model, toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled, ModelError
from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import EditExample, Fill, FindNextEdits, Prefetch
from intarsia.engine.team.keys import KeyFileError, TeamKeys, add_user, line_of, new_key
from intarsia.engine.team.quotas import Busy, Quotas, TeamLimits
from intarsia.engine.team.serve import OwnersFiller


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys"


def write(path: Path, *lines: str) -> None:
    """Write another file in its place, as an editor does: no two versions look the same."""
    draft = path.with_name("draft")
    draft.write_text("".join(lines))
    draft.chmod(0o600)
    draft.replace(path)


def test_a_key_tells_its_user(path: Path) -> None:
    ann, ben = new_key(), new_key()
    write(path, "# the team\n\n", line_of("ann", ann), line_of("ben@example.com", ben))
    keys = TeamKeys(path)
    assert (keys.user_of(ann), keys.user_of(ben)) == ("ann", "ben@example.com")
    assert keys.user_of(new_key()) is None
    assert keys.user_of("") is None
    assert keys.user_of("a" * 100_000) is None
    assert keys.user_of("\ud800") is None


def test_no_key_is_in_the_file(path: Path) -> None:
    key = new_key()
    write(path, line_of("ann", key))
    assert key not in path.read_text()
    assert len(key) > 40
    assert len({new_key() for _ in range(100)}) == 100


def test_a_key_that_is_taken_out_is_refused_at_once(path: Path) -> None:
    ann, ben = new_key(), new_key()
    write(path, line_of("ann", ann))
    keys = TeamKeys(path)
    assert keys.user_of(ann) == "ann"
    write(path, line_of("ben", ben))
    assert keys.user_of(ann) is None
    assert keys.user_of(ben) == "ben"


def test_while_the_file_is_gone_or_bad_no_key_is_accepted(path: Path) -> None:
    ann = new_key()
    write(path, line_of("ann", ann))
    keys = TeamKeys(path)
    path.unlink()
    assert keys.user_of(ann) is None
    write(path, "ann sha256:abc\n")
    assert keys.user_of(ann) is None
    write(path, line_of("ann", ann))
    assert keys.user_of(ann) == "ann"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["ann\n"], "line 1: write NAME sha256:DIGEST"),
        ([line_of("ann", "a"), "ben md5:00\n"], "line 2: write NAME"),
        ([line_of("ann", "a"), line_of("ann", "b")], "line 2: ann has a key already"),
    ],
)
def test_a_bad_line_is_named(path: Path, lines: list[str], message: str) -> None:
    write(path, *lines)
    with pytest.raises(KeyFileError, match=message):
        TeamKeys(path)


def test_no_file_and_no_text(path: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="cannot be read"):
        TeamKeys(path)
    with pytest.raises(KeyFileError, match="is not a file"):
        TeamKeys(tmp_path)
    path.write_bytes(b"\xff\xfe\x00")
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="is not UTF-8"):
        TeamKeys(path)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
@pytest.mark.parametrize("mode", [0o602, 0o666])
def test_a_file_that_others_may_write_is_refused(path: Path, mode: int) -> None:
    write(path, line_of("ann", "a"))
    path.chmod(mode)
    with pytest.raises(KeyFileError, match="chmod go-w"):
        TeamKeys(path)


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "-x", "x" * 65, "a:b", "é"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(KeyFileError, match="cannot name a user"):
        line_of(name, "key")


ANN = line_of("ann", "a").rstrip("\n").encode()


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"\n",
        ANN,
        ANN + b"\n",
        ANN + b"\n\n",
        ANN + b"  ",
        ANN + b"\r\n",
        b"# team\r\n\r\n" + ANN,
        ANN + b"\r",
        ANN + b"\n# ben left",
        ANN + "\u2028".encode(),
    ],
)
def test_whatever_is_at_the_end_a_new_key_and_all_others_are_accepted(path, before):
    path.write_bytes(before)
    path.chmod(0o600)
    others = TeamKeys(path)
    carol, dave = add_user(path, "carol"), add_user(path, "dave")
    assert path.read_bytes().startswith(before)
    for keys in (TeamKeys(path), others):
        assert (keys.user_of(carol), keys.user_of(dave)) == ("carol", "dave")
        assert keys.user_of("a") == ("ann" if ANN in before else None)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (ANN + b"\nben\n", "line 2"),
        (b"\xef\xbb\xbf" + ANN, "line 1"),
        (ANN.decode().encode("utf-16"), "not UTF-8"),
        (line_of("carol", "c").encode(), "has a key already"),
        (b"#" * 4_000_000, "more than"),
    ],
)
def test_a_file_that_cannot_be_added_to_stays_as_it_is(path, before, message):
    path.write_bytes(before)
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match=message):
        add_user(path, "carol")
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="file modes and links")
def test_the_file_keeps_its_mode_and_its_place(path: Path, tmp_path: Path) -> None:
    write(path, ANN.decode())
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    before = path.stat()
    assert TeamKeys(path).user_of(add_user(link, "carol")) == "carol"
    after = path.stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_read_only_file_and_one_of_others_are_not_written(path: Path) -> None:
    write(path, ANN.decode())
    path.chmod(0o400)
    with pytest.raises(PermissionError):
        add_user(path, "carol")
    path.chmod(0o666)
    with pytest.raises(KeyFileError, match="chmod go-w"):
        add_user(path, "carol")
    assert path.read_bytes() == ANN


@pytest.mark.skipif(os.name != "posix", reason="limits of files")
def test_where_the_disk_is_full_no_half_line_stays(path: Path) -> None:
    import resource

    write(path, ANN.decode())
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(ANN) + 10, former[1]))
        with pytest.raises(OSError, match="No space"):
            add_user(path, "carol")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
    assert path.read_bytes() == ANN
    assert TeamKeys(path).user_of("a") == "ann"


def test_of_keys_that_are_made_at_once_none_is_lost(path: Path) -> None:
    path.write_bytes(ANN)
    path.chmod(0o600)
    names = [f"user{n}" for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(partial(add_user, path), names))
    keys = TeamKeys(path)
    assert [keys.user_of(key) for key in made] == names
    assert keys.user_of("a") == "ann"


LIMITS = TeamLimits(max_in_flight=2, per_minute=60, burst=3, max_waiting=5)


def begin(quotas: Quotas, user: str, now: float, num_waiting: int = 0) -> Busy | None:
    return quotas.begin(user, now, num_waiting=num_waiting)


def test_a_user_has_so_many_fills_in_flight() -> None:
    quotas = Quotas(LIMITS)
    assert begin(quotas, "ann", 0) is None
    assert begin(quotas, "ann", 0) is None
    busy = begin(quotas, "ann", 0)
    assert busy is not None and busy.is_own and "2 of your fills are running" in busy.reason
    assert begin(quotas, "ben", 0) is None
    assert quotas.num_in_flight == 3
    quotas.end("ann")
    assert begin(quotas, "ann", 0) is None


def test_a_user_begins_so_many_fills_a_minute() -> None:
    quotas = Quotas(LIMITS)
    for _ in range(3):
        assert begin(quotas, "ann", 10.0) is None
        quotas.end("ann")
    busy = begin(quotas, "ann", 10.0)
    assert busy is not None and busy.is_own and "60 fills a minute" in busy.reason
    assert begin(quotas, "ann", 10.0 + busy.retry_after_s) is None, "the time that it was told"


def test_a_refused_request_costs_nothing() -> None:
    quotas = Quotas(LIMITS)
    for _ in range(20):
        assert begin(quotas, "ann", 0, num_waiting=5) is not None
    assert quotas.num_in_flight == 0
    assert begin(quotas, "ann", 0) is None


def test_a_long_pause_gives_no_more_than_the_burst() -> None:
    quotas = Quotas(LIMITS)
    begin(quotas, "ann", 0)
    quotas.end("ann")
    taken = 0
    while begin(quotas, "ann", 9_999.0) is None:
        quotas.end("ann")
        taken += 1
    assert taken == LIMITS.burst


def test_a_full_engine_is_nobodys_own_fault() -> None:
    busy = begin(Quotas(LIMITS), "ann", 0, num_waiting=5)
    assert busy is not None and not busy.is_own and busy.retry_after_s >= 1


PREFIX = "import os\n\n\ndef first(value):\n    return value\n\n\ndef second(" * 4
SUFFIX = "):\n    return first(1)\n" * 4


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Filler:
    folder: Path = tmp_path_factory.mktemp("model")
    return toy_filler(save_toy(folder, toy_causal_model("qwen2")))


def owners(model: Filler, *, of_all: int = 8_192) -> OwnersFiller:
    return OwnersFiller(model, of_user=4_096, of_all=of_all)


def hole(owner: str, prefix: str = PREFIX, **fields: object) -> Fill:
    return replace(toy_fill(prefix, SUFFIX, max_tokens=8, **fields), owner=owner)


def test_a_users_own_context_is_reused(model: Filler) -> None:
    filler = owners(model)
    assert run_fill(filler, hole("ann")).num_reused == 0
    assert run_fill(filler, hole("ann")).num_reused > 0


def test_nothing_of_another_user_is_reused(model: Filler) -> None:
    filler = owners(model)
    first = run_fill(filler, hole("ann"))
    second = run_fill(filler, hole("ben"))
    assert (second.num_reused, second.num_prefilled) == (0, first.num_prefilled)
    assert second.num_forwards == first.num_forwards, "an answer of another user is no draft"
    assert second.text == first.text


def test_a_user_gets_the_text_that_the_user_gets_alone(model: Filler) -> None:
    alone = owners(model)
    typed = [hole("ann", PREFIX + "value"[:n]) for n in range(4)]
    expected = [run_fill(alone, request) for request in typed]
    shared = owners(model)
    for request, known in zip(typed, expected, strict=True):
        run_fill(shared, replace(request, owner="ben", prefix=request.prefix + " "))
        got = run_fill(shared, request)
        assert got.text == known.text
        assert (got.num_reused, got.num_prefilled) == (known.num_reused, known.num_prefilled)


def test_a_place_is_read_for_its_owner_alone(model: Filler) -> None:
    filler = owners(model)
    filler.prefetch(Prefetch(prefix=PREFIX, suffix=SUFFIX, owner="ann"), NO_CONTROL)
    assert run_fill(filler, hole("ben")).num_reused == 0
    assert run_fill(filler, hole("ann")).num_prefilled <= 1


def test_the_user_who_has_been_quiet_the_longest_is_forgotten(model: Filler) -> None:
    filler = owners(model)
    run_fill(filler, hole("ann"))
    num_tokens = filler.cached_tokens()
    filler = owners(model, of_all=2 * num_tokens + 1)
    for owner in ("ann", "ben", "ann", "cid"):
        run_fill(filler, hole(owner))
    assert filler.num_users == 2
    assert filler.cached_tokens() <= 2 * num_tokens + 1
    assert run_fill(filler, hole("ann")).num_reused > 0
    assert run_fill(filler, hole("ben")).num_reused == 0


def test_a_suspended_fill_goes_on_as_if_nothing_had_been(model: Filler) -> None:
    """Within it other users fill, who need all the room that there is."""
    alone = run_fill(owners(model), hole("ann", decoding="autoregressive"))
    filler = owners(model, of_all=1)
    within: list[Fill] = []

    def checkpoint() -> None:
        if len(within) < 6:
            within.append(hole(("ben", "cid", "ann")[len(within) % 3], PREFIX + "x = "))
            with filler.suspended():
                run_fill(filler, within[-1])

    request = hole("ann", decoding="autoregressive")
    suspended = filler.fill(request, FillControl(checkpoint=checkpoint))
    assert len(within) == 6
    assert suspended.text == alone.text
    assert filler.num_users == 1


def test_a_cancelled_fill_leaves_the_others_as_they_are(model: Filler) -> None:
    filler = owners(model)
    run_fill(filler, hole("ann"))

    def cancel() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        filler.fill(hole("ben"), FillControl(checkpoint=cancel))
    assert run_fill(filler, hole("ann")).num_reused > 0


def test_idle_time_and_status_before_and_after_the_first_user(model: Filler) -> None:
    filler = owners(model)
    filler.prepare(NO_CONTROL)
    assert (filler.num_users, filler.cached_tokens()) == (0, 0)
    assert filler.prefill_tokens_per_s() is None
    run_fill(filler, hole("ann"))
    filler.prepare(NO_CONTROL)
    filler.rest()
    assert filler.num_users == 1
    asked = FindNextEdits(id=1, parts=(), example=EditExample(before="a\n", after="b\n"))
    with pytest.raises(ValueError, match="finds no next edits"):
        filler.find_next_edits(asked, NO_CONTROL)


def test_a_family_with_one_context_is_refused() -> None:
    filler = object.__new__(DiffusionGemmaFiller)
    filler._info = SimpleNamespace(name="diffusion-gemma")
    with pytest.raises(ModelError, match="vLLM"):
        filler.for_another_owner(cache_tokens=1)
