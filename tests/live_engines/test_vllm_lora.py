"""Our own tuning in vLLM, as PEFT has it: one server has the plain model and the tuned one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from exported_model import exported
from real_holes import REAL_HOLES
from remote_settings import RemoteSettings
from toy_causal_fill import run_fill
from vllm_server import SERVER_PYTHON, VllmServer, vllm_server

from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.service.load_filler import load_filler

pytestmark = pytest.mark.timeout(1_800)

KEY = "lora-key"
PLAIN = f"{DEFAULT_MODEL}+none"
HOLES = ("count vowels", "clamp", "read pairs", "largest", "factorial")


@pytest.fixture(scope="module")
def server(plain_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    """The plain model and our tuning; ``model`` in remotes.toml chooses."""
    if not SERVER_PYTHON.exists():
        pytest.skip("vLLM is not installed: make build/servers/vllm/.ready")
    folder = tmp_path_factory.mktemp("vllm-lora")
    tuned = exported("peft", folder / "tuned", DEFAULT_MODEL)
    flags = ("--served-model-name", "plain", "--max-num-seqs", "2", "--enable-lora")
    flags += ("--max-lora-rank", "16", "--lora-modules", f"tuned={tuned}")
    with vllm_server(plain_folder, folder / "server.log", keys=[KEY], flags=flags) as server:
        yield server


def line(prefix: str, suffix: str) -> Fill:
    return Fill(id=1, prefix=prefix, suffix=suffix, stop=("\n",), max_tokens=24, fresh=True)


def own(model: str) -> Filler:
    return load_filler(EngineConfig(model=model), model, lambda *_: None)


def there(server: VllmServer, settings: RemoteSettings, model: str) -> RemoteFiller:
    key = settings.path.with_name("key")
    key.write_text(KEY)
    key.chmod(0o600)
    remote = settings.write(server.url, key_file=str(key), timeout_s=300, model=model)
    return RemoteFiller(remote, max_context_tokens=4_096)


def written(filler: Filler) -> list[Filled]:
    return [run_fill(filler, line(*REAL_HOLES[name])) for name in HOLES]


def texts(filled: Sequence[Filled]) -> list[str]:
    return [one.text for one in filled]


def num_same(first: Sequence[Filled], second: Sequence[Filled]) -> int:
    return sum(one.text == other.text for one, other in zip(first, second, strict=True))


def test_our_tuning_in_vllm_writes_what_the_merged_model_writes(
    server: VllmServer, settings: RemoteSettings
) -> None:
    tuned, merged = written(there(server, settings, "tuned")), written(own(DEFAULT_MODEL))
    plain = written(there(server, settings, "plain"))
    assert num_same(tuned, merged) >= len(HOLES) - 1, "only rounding may differ"
    for one, other in zip(tuned, merged, strict=True):
        if one.text == other.text:
            first, second = one.tokens[0], other.tokens[0]
            assert first.confidence == pytest.approx(second.confidence, abs=0.1)
    assert texts(plain) != texts(tuned), "the LoRA changed nothing"
    assert num_same(plain, written(own(PLAIN))) >= len(HOLES) - 1
