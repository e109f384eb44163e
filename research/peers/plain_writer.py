"""Has a plain backbone write lines again in this process, after a prompt of several files."""

from collections.abc import Sequence

from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_device
from intarsia.engine.families.masked_causal.backbone.adapter import AdapterFiles
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.load import load_backbone
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.families.masked_causal.next_edit.rewrite import Rewriter
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import (
    FimTokenizer,
    read_fim_tokenizer,
)
from intarsia.engine.fill_control import FillControl
from intarsia.engine.model_store.locate import locate_model
from intarsia.engine.model_store.model_name import NO_TUNING
from intarsia_research.errors import EvaluationFault


class PlainWriter:
    """A backbone without tuning and adapters, greedy, with the present lines as its draft."""

    def __init__(self, backbone: CausalBackbone, text: FimTokenizer) -> None:
        if text.repository is None:
            raise ModelError("this model has no mark of a new file, which Sweep's prompt needs")
        self._backbone = backbone
        self._text = text
        self._mark = text.mark_id(text.repository.before_file)
        self._rewriter = Rewriter(backbone, frozenset({*text.end_ids, self._mark}))

    def write(self, prompt: Sequence[str], draft: str) -> str | None:
        """Return the new lines, None if they do not come to an end.

        ``prompt``: texts that each follow a mark of a new file. ``draft``: the present lines.
        """
        ids = [id_ for part in prompt for id_ in (self._mark, *self._text.encode(part))]
        answer = self._rewriter.write(
            self._backbone.new_cache(),
            ids,
            self._text.encode(draft),
            FillControl(),
            is_adapted=False,
        )
        if not answer.is_whole:
            return None
        return "".join(self._text.pieces(answer.ids, num_given=0))


def load_plain_writer(model: str) -> PlainWriter:
    """Load the backbone of a model, without its tuning. Raises EvaluationFault."""
    try:
        return _loaded(f"{model.partition('+')[0]}+{NO_TUNING}")
    except ModelError as error:
        raise EvaluationFault(str(error)) from error


def _loaded(name: str) -> PlainWriter:
    folder = locate_model(name, lambda *_: None, rows_tuned_by=rows_tuned_by)
    if folder.family != "masked_causal":
        raise ModelError(f"{folder.name} is not a causal backbone: it cannot follow this prompt")
    tokenizer = read_fim_tokenizer(folder.path)
    loaded = load_backbone(
        folder,
        read_shape(folder.config),
        EngineConfig().dtype,
        choose_device("auto"),
        adapters=AdapterFiles(),
        mask_id=tokenizer.mask_id,
    )
    loaded.backbone.prepare()
    return PlainWriter(loaded.backbone, tokenizer)
