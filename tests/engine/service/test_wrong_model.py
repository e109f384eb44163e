"""A model that cannot be loaded, named by one client, leaves the other clients their model."""

import pytest
from in_process_engine import hole, in_process_engine
from rule_engine import RuleFiller

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError, NoRoomError
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.service.failures import LoadFailure
from intarsia.engine.service.model_slot import FAILURE_KEPT_S, ModelSlot


class Models:
    """Records what is done with which model.

    ``wrong`` models fail the check; ``heavy`` ones pass it and fail at the load.
    """

    def __init__(self, wrong=None, heavy=None, default="default") -> None:
        self.wrong = wrong or set()
        self.heavy = heavy or {}
        self.done: list[str] = []
        self.now = 1_000.0
        self.slot = ModelSlot(
            EngineConfig(model=default),
            self.load,
            lambda stage, share: None,
            check_model=self.check,
            clock=lambda: self.now,
        )

    def check(self, _: EngineConfig, model: str, __: Progress) -> None:
        self.done.append(f"check {model}")
        if model in self.wrong:
            raise ModelError(f"no model {model!r}: looked for a config.json")

    def load(self, config: EngineConfig, model: str, on_progress: Progress) -> Filler:
        self.done.append(f"load {model}")
        if model in self.heavy:
            raise self.heavy[model]
        return RuleFiller(lambda _: model, name=model)

    def refused(self, model: str) -> LoadFailure:
        with pytest.raises(LoadFailure) as caught:
            self.slot.take(model)
        return caught.value


async def test_another_client_keeps_its_model(address: Address):
    models = Models(wrong={"wrong"})
    async with (
        in_process_engine(address, models.load, check_model=models.check, model="good"),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        for _ in range(3):
            assert (await client.fill(hole())).text == "good"
            with pytest.raises(FillFailed, match="looked for") as caught:
                await client.fill(hole(model="wrong"))
            assert caught.value.code == "model"
        assert (await client.status()).state == "ready"
    assert models.done == ["load good", "check wrong"]


def test_a_model_is_checked_before_the_loaded_one_is_dropped():
    models = Models()
    for model in ("one", "two", "two", "one"):
        models.slot.take(model)
    assert models.done == ["load one", "check two", "load two", "check one", "load one"]


def test_a_name_that_failed_is_tried_again_after_a_while():
    models = Models(wrong={"wrong"})
    good = models.slot.take("good")
    first = models.refused("wrong")
    models.now += FAILURE_KEPT_S - 1
    again = models.refused("wrong")
    assert (first.code, str(first)) == (again.code, str(again))
    assert models.done == ["load good", "check wrong"]
    models.now += 1
    models.refused("wrong")
    assert models.done == ["load good", "check wrong", "check wrong"]
    models.now += FAILURE_KEPT_S
    models.wrong.clear()
    assert models.slot.take("good") is good
    assert models.slot.take("wrong") is not good


def test_a_failed_load_is_remembered_too_and_the_previous_model_is_loaded_once():
    models = Models(heavy={"odd": IndexError("no layers")})
    models.slot.take("good")
    for _ in range(3):
        failure = models.refused("odd")
        assert (failure.code, "loading odd" in str(failure)) == ("internal", True)
        if models.done[-1] == "load good":  # a traceback would keep the frames, and so the weights
            assert failure.__cause__ is failure.__context__ is None
        models.slot.take(None)
    assert models.done == ["load good", "check odd", "load odd", "load good"]


@pytest.mark.parametrize(
    ("error", "code"),
    [(MemoryError(), "out_of_memory"), (NoRoomError("2 GiB are free: close something"), "model")],
)
def test_a_load_without_room_is_tried_again_at_once(error: Exception, code: str):
    models = Models(heavy={"big": error})
    assert models.refused("big").code == code
    models.heavy.clear()
    assert models.slot.take("big").info.name == "big"


TUNED = "base+/home/me/boxes-1/tuning.safetensors"


@pytest.mark.parametrize(
    ("default", "asked", "loaded"),
    [
        ("first", (TUNED, None, None, TUNED, "other", None), [TUNED, "base", TUNED, "other"]),
        (TUNED, (None, None), [TUNED]),  # that an engine was started with is for every request
    ],
)
def test_a_request_without_a_model_gets_the_last_one_without_its_tuning(default, asked, loaded):
    models = Models(default=default)
    for model in asked:
        models.slot.take(model)
    assert [it.removeprefix("load ") for it in models.done if it.startswith("load")] == loaded
