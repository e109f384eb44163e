"""Users of one engine share its weights and nothing else: checked with a real, small model."""

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
from intarsia.engine.team.serve import OwnersFiller

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
