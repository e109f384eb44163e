"""The arithmetic from trials to figures."""

import pytest

from intarsia.cli.eval_figures import Spread, evaluate
from intarsia.cli.eval_trials import Answer, Trial
from intarsia.engine.ipc.messages import CanvasToken, Filled, Timing


def filled(num_tokens: int, steps: int, *, prefill: float = 0, denoise: float = 0) -> Filled:
    return Filled(
        id=1,
        text="",
        tokens=(CanvasToken("x", 1.0, True),) * num_tokens,
        steps=steps,
        ms=Timing(queue=1, prefill=prefill, denoise=denoise, total=9999),
        mean_entropy=0,
        finish_reason="end_of_hole",
        model="toy",
        num_prefilled=10,
        num_reused=0,
    )


def answer(text: str, num_tokens: int, steps: int, denoise: float = 0) -> Answer:
    return Answer(text=text, filled=filled(num_tokens, steps, denoise=denoise))


TRIALS = [
    Trial(
        truth="    a = 1\n",
        read=filled(1, 0, prefill=100),
        answers={
            "left_to_right": answer("    a = 1", 4, 4, denoise=40),
            "verified": answer("    a = 1", 4, 2, denoise=20),
            "entropy": answer("a = 1  ", 4, 1, denoise=10),
        },
    ),
    Trial(
        truth="b",
        read=filled(1, 0, prefill=300),
        answers={
            "left_to_right": answer("c", 2, 2, denoise=20),
            "verified": answer("c", 2, 1, denoise=30),
            "entropy": answer(" ", 2, 2, denoise=50),
        },
    ),
]
MODES = ("left_to_right", "verified", "entropy")


def test_exact_is_equal_but_for_blanks_at_the_ends():
    assert [mode.exact for mode in evaluate(TRIALS, MODES).modes] == [0.5, 0.5, 0.5]


def test_the_others_are_compared_with_the_first_mode():
    first, verified, entropy = evaluate(TRIALS, MODES).modes
    assert (first.passes, first.passes_to_first, first.same_as_first) == (6, 1.0, 2)
    assert (verified.passes, verified.passes_to_first, verified.same_as_first) == (3, 0.5, 2)
    assert (entropy.passes, entropy.passes_to_first, entropy.same_as_first) == (3, 0.5, 0)


def test_tokens_per_pass_are_all_tokens_over_all_passes():
    assert [mode.tokens_per_pass for mode in evaluate(TRIALS, MODES).modes] == [1.0, 2.0, 2.0]


def test_a_blank_answer_is_empty():
    assert [mode.empty for mode in evaluate(TRIALS, MODES).modes] == [0, 0, 0.5]


def test_times_are_the_cold_prefill_and_the_mode_s_own_denoising():
    evaluation = evaluate(TRIALS, MODES)
    assert evaluation.prefill_ms == Spread(p50=100, p95=300)
    assert evaluation.prefilled_tokens == 10
    assert evaluation.modes[1].denoise_ms == Spread(p50=20, p95=30)
    assert evaluation.modes[1].total_ms == Spread(p50=120, p95=330)


def test_verdicts_become_pass_at_1():
    verdicts = {
        "left_to_right": [True, False],
        "verified": [True, True],
        "entropy": [False, False],
    }
    found = evaluate(TRIALS, MODES, verdicts).modes
    assert [mode.pass_at_1 for mode in found] == [0.5, 1.0, 0.0]
    assert evaluate(TRIALS, MODES).modes[0].pass_at_1 is None


@pytest.mark.parametrize("is_read", [True, False])
def test_what_was_not_answered_is_a_failure_and_not_exact(is_read: bool):
    read = filled(1, 0, prefill=5) if is_read else None
    evaluation = evaluate([*TRIALS, Trial(truth="d", read=read, answers={})], MODES)
    assert evaluation.failures == (3 if is_read else 4)
    assert [mode.failures for mode in evaluation.modes] == [1, 1, 1]
    assert evaluation.modes[0].exact == pytest.approx(1 / 3)


def test_no_answer_at_all_gives_figures_too():
    evaluation = evaluate([Trial(truth="d", read=None, answers={})], ("verified",))
    assert evaluation.model is None
    assert evaluation.modes[0].tokens_per_pass is None
    assert evaluation.modes[0].denoise_ms == Spread(p50=None, p95=None)
