"""Turn a LoRA that PEFT, Unsloth or NeMo AutoModel wrote into a tuning of ours.

The tuning changes the weights exactly as the LoRA does: its own scale goes into ``B``, and
differing ranks of joined matrices become blocks.
"""

from dataclasses import dataclass
from pathlib import Path

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import SCALE
from intarsia.engine.interchange.low_rank import scaled, stack_rows, without_idle_ranks
from intarsia.engine.interchange.peft_config import read_peft_config
from intarsia.engine.interchange.peft_tensors import read_pairs
from intarsia.engine.interchange.tunable_matrices import tunable_matrices
from intarsia.engine.interchange.tuning_file import write_tuning
from intarsia.engine.model_store.locate import ModelFolder


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedLora:
    """What was imported: how many linear layers it changes, and what its config says it is for."""

    num_modules: int
    base_model: str | None


def import_peft(lora: Path, model: ModelFolder, target: Path) -> ImportedLora:
    """Write the LoRA of a folder as a tuning for this model.

    Raises ModelError for a LoRA that is not plain or does not fit, OutputError for the disk.
    """
    config, matrices = read_peft_config(lora), tunable_matrices(model)
    changes = {
        module: without_idle_ranks(scaled(pair, config.scale_of(module) / SCALE))
        for module, pair in read_pairs(lora, config, matrices).items()
    }
    num_modules = sum(pair.rank > 0 for pair in changes.values())
    if not num_modules:
        raise ModelError(f"{lora} changes nothing (its B matrices are zero): train it first")
    pairs = {
        matrix.name: stack_rows(
            [changes.get(module.path) for module in matrix.modules],
            [module.num_out for module in matrix.modules],
            matrix.num_in,
        )
        for matrix in matrices
    }
    write_tuning(pairs, target, metadata={"backbone": model.name, "source": "PEFT LoRA"})
    return ImportedLora(num_modules=num_modules, base_model=config.base_model)
