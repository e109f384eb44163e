"""LoRAs in vLLM: our own tuning as PEFT has it, and one that PEFT trained, which fills holes here.

One server has the plain model and both; ``model`` in remotes.toml chooses.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from command_line import run
from exported_model import exported
from real_holes import REAL_HOLES
from remote_settings import RemoteSettings
from toy_causal_fill import run_fill
from transformers import AutoModelForCausalLM
from vllm_server import SERVER_PYTHON, VllmServer, vllm_server

from intarsia.cli.errors import ExitCode
from intarsia.engine.config import EngineConfig
from intarsia.engine.families.masked_causal.read_request import RequestReader
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import read_fim_tokenizer
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.engine.remote.filler import RemoteFiller
from intarsia.engine.service.load_filler import load_filler

pytestmark = pytest.mark.timeout(1_800)

KEY = "lora-key"
PLAIN = f"{DEFAULT_MODEL}+none"
CLAMP = REAL_HOLES["clamp"]
LEARNT = "        return min(value, high)\n"
"""What the foreign LoRA learns to write for ``clamp``, where other models return the bound."""

HOLES = ("count vowels", "clamp", "read pairs", "largest", "factorial")


@pytest.fixture(scope="module")
def foreign_lora(plain_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LoRA that PEFT has trained on our exported model, and written."""
    return trained(plain_folder, tmp_path_factory.mktemp("foreign") / "lora")


@pytest.fixture(scope="module")
def server(
    plain_folder: Path, foreign_lora: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VllmServer]:
    """The plain model, our tuning and the foreign LoRA."""
    if not SERVER_PYTHON.exists():
        pytest.skip("vLLM is not installed: make build/servers/vllm/.ready")
    folder = tmp_path_factory.mktemp("vllm-lora")
    tuned = exported("peft", folder / "tuned", DEFAULT_MODEL)
    flags = ("--served-model-name", "plain", "--max-num-seqs", "2", "--enable-lora")
    flags += ("--max-lora-rank", "16", "--max-loras", "2", "--lora-modules")
    flags += (f"tuned={tuned}", f"foreign={foreign_lora}")
    with vllm_server(plain_folder, folder / "server.log", keys=[KEY], flags=flags) as server:
        yield server


def trained(folder: Path, out: Path) -> Path:
    """Have PEFT train a LoRA on one hole, and write it."""
    torch.manual_seed(0)
    config = peft.LoraConfig(
        r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"], task_type="CAUSAL_LM"
    )
    plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model: Any = peft.get_peft_model(plain, config)
    text = read_fim_tokenizer(folder)
    reader = RequestReader(text, vocab_size=text.num_tokens, max_context_tokens=512)
    context = reader.read(line(*CLAMP), NO_CONTROL).context
    learnt = text.encode(LEARNT)
    ids = torch.tensor([[*context, *learnt]])
    labels = torch.tensor([[-100] * len(context) + learnt])
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(30):
        loss = model(ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 0.02:
            break
    assert loss.item() < 0.5
    model.save_pretrained(out)
    return out


def line(prefix: str, suffix: str) -> Fill:
    return Fill(id=1, prefix=prefix, suffix=suffix, stop=("\n",), max_tokens=24, fresh=True)


def own(model: str) -> Filler:
    """Return our engine with a model."""
    return load_filler(EngineConfig(model=model), model, lambda *_: None)


def there(server: VllmServer, settings: RemoteSettings, model: str) -> RemoteFiller:
    """Return the server's model of this name, as a user's remote."""
    key = settings.path.with_name("key")
    key.write_text(KEY)
    key.chmod(0o600)
    remote = settings.write(server.url, key_file=str(key), timeout_s=300, model=model)
    return RemoteFiller(remote, max_context_tokens=4_096)


def written(filler: Filler, names: Sequence[str] = HOLES) -> list[Filled]:
    return [run_fill(filler, line(*REAL_HOLES[name])) for name in names]


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


def test_a_lora_that_peft_trained_writes_the_same_here_and_in_vllm(
    server: VllmServer, settings: RemoteSettings, foreign_lora: Path, tmp_path: Path
) -> None:
    tuning = tmp_path / "own" / "tuning.safetensors"
    result = run("import", "peft", foreign_lora, tuning)
    assert result.exit_code == ExitCode.OK, result.stderr
    here = written(own(f"{PLAIN}+{tuning}"))
    foreign = written(there(server, settings, "foreign"))
    assert here[HOLES.index("clamp")].text == LEARNT.rstrip("\n")
    assert here[HOLES.index("clamp")].text == foreign[HOLES.index("clamp")].text
    assert num_same(here, foreign) >= len(HOLES) - 1, "only rounding may differ"
    assert texts(written(own(PLAIN), ("clamp",))) != [LEARNT.rstrip("\n")]
