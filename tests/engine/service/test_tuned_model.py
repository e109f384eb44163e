"""A tuning is used only for requests that name it: one without a model never gets it."""

import pytest
from rule_engine import RuleFiller

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.model_store.catalog import without_tuning
from intarsia.engine.service.model_slot import ModelSlot

TUNED = "base+/home/me/boxes-1/tuning.safetensors"


def slot_of(model: str, loaded: list[str]) -> ModelSlot:
    def load(_: EngineConfig, name: str, __: Progress) -> Filler:
        loaded.append(name)
        return RuleFiller(lambda _: name, name=name)

    return ModelSlot(EngineConfig(model=model), load, lambda stage, share: None)


def test_a_request_without_a_model_gets_the_last_one_without_its_tuning() -> None:
    loaded: list[str] = []
    slot = slot_of("first", loaded)
    for model in (TUNED, TUNED, None, None, TUNED, "other", None):
        slot.take(model)
    assert loaded == [TUNED, "base", TUNED, "other"]


def test_the_tuning_that_an_engine_was_started_with_is_for_every_request() -> None:
    loaded: list[str] = []
    slot = slot_of(TUNED, loaded)
    for _ in range(3):
        slot.take(None)
    assert loaded == [TUNED]


@pytest.mark.parametrize(
    ("model", "plain"),
    [
        (TUNED, "base"),
        ("base", "base"),
        ("base+none", "base+none"),
        ("/home/c++/model.gguf", "/home/c++/model.gguf"),
        ("+a.safetensors", "+a.safetensors"),
    ],
)
def test_only_a_full_path_in_the_name_is_a_tuning(model: str, plain: str) -> None:
    assert without_tuning(model) == plain
