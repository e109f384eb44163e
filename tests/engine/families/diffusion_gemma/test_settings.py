"""A checkpoint's generation config and a request → the policy of one fill."""

from types import SimpleNamespace

import pytest

from intarsia.engine.diffusion.policies import ConstantTemperature, LinearTemperature
from intarsia.engine.diffusion.prediction import draw, take_likeliest
from intarsia.engine.diffusion.stopping import StableAndConfident
from intarsia.engine.families.diffusion_gemma.canvas.settings import (
    DenoisingSettings,
    read_settings,
)
from intarsia.engine.ipc.messages import Fill


def request(*, max_steps: int | None = None, temperature: float | None = None) -> Fill:
    return Fill(id=1, prefix="", suffix="", max_steps=max_steps, temperature=temperature)


def test_a_checkpoint_may_name_some_settings() -> None:
    config = SimpleNamespace(
        max_denoising_steps=16,
        sampler_config=SimpleNamespace(entropy_bound=0.3),
        t_min=0.2,
        t_max=None,
        eos_token_id=1,
    )
    expected = DenoisingSettings(max_denoising_steps=16, entropy_bound=0.3, t_min=0.2)
    assert read_settings(config) == expected
    assert read_settings(SimpleNamespace()) == DenoisingSettings()


def test_the_checkpoints_own_way_is_the_default() -> None:
    policy = DenoisingSettings().policy(request(), vocab_size=9)
    assert policy.max_steps == 48
    assert policy.temperature == LinearTemperature(t_min=0.4, t_max=0.8, num_steps=48)
    assert policy.sample is draw
    assert policy.stop == StableAndConfident(stability_threshold=1, confidence_threshold=0.005)


def test_a_smaller_budget_of_steps_cools_down_within_it() -> None:
    policy = DenoisingSettings().policy(request(max_steps=8), vocab_size=9)
    assert policy.max_steps == 8
    assert policy.temperature(1) == pytest.approx(0.8)
    assert policy.temperature(8) == pytest.approx(0.45)


def test_temperatures_of_a_request() -> None:
    cold = DenoisingSettings().policy(request(temperature=0), vocab_size=9)
    assert cold.sample is take_likeliest
    warm = DenoisingSettings().policy(request(temperature=1.3), vocab_size=9)
    assert warm.temperature == ConstantTemperature(temperature=1.3)
    with pytest.raises(ValueError, match="temperature"):
        DenoisingSettings().policy(request(temperature=-1), vocab_size=9)
