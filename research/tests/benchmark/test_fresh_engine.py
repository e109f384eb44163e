"""The benchmark's own engine begins with no kept context, and leaves none."""

import psutil
import pytest
from rule_engine import rule_engine_launch

from intarsia.engine.cache.folder import contexts_folder
from intarsia.engine.ipc.address import Address
from intarsia_research.benchmark.fresh_engine import fresh_engine


def environment_of_engine(address: Address) -> dict[str, str]:
    return psutil.Process(int(address.pid_path.read_text())).environ()


async def test_each_run_has_a_new_folder_of_contexts_which_its_restarted_engine_finds_again():
    users, runs = contexts_folder(), []
    for _ in range(2):
        async with fresh_engine(rule_engine_launch(text="x")) as (client, address):
            await client.preload()
            own = contexts_folder()
            assert own != users and not own.exists()
            own.mkdir()
            for _ in range(2):
                assert environment_of_engine(address)["INTARSIA_CONTEXTS_DIR"] == str(own)
                await client.stop()
                await client.preload()
            assert own.is_dir()
        assert not own.exists()
        assert contexts_folder() == users
        runs.append(own)
    assert runs[0] != runs[1]


async def test_a_folder_of_contexts_that_was_set_is_set_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("INTARSIA_CONTEXTS_DIR", "/kept")
    async with fresh_engine(rule_engine_launch(text="x")):
        assert str(contexts_folder()) != "/kept"
    assert str(contexts_folder()) == "/kept"
