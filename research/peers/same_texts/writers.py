"""Systems that write holes greedily and say how likely tokens are: our engine, and servers."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

import torch

from intarsia.engine.config import Dtype
from intarsia.engine.decoding.entropy import EntropyPolicy
from intarsia.engine.families.device import choose_device
from intarsia.engine.families.masked_causal.backbone.adapter import AdapterFiles
from intarsia.engine.families.masked_causal.backbone.load import load_backbone
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.families.masked_causal.hole_text import HoleText
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.read_request import FillTask
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import (
    FimTokenizer,
    read_fim_tokenizer,
)
from intarsia.engine.families.masked_causal.writer import HoleWriter
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.model_store.locate import locate_model
from intarsia.engine.remote.dialects.generation import Dialect, Generation
from intarsia.engine.remote.discovery.discover import discover
from intarsia.engine.remote.discovery.tokenizer import check_tokenizer, read_tokenizer
from intarsia.engine.remote.fill.context_reader import ContextReader
from intarsia.engine.remote.fill.hole_run import HoleRun
from intarsia.engine.remote.fill.link import ServerLink
from intarsia.engine.remote.filler import dialect_of
from intarsia.engine.remote.settings.remotes import Remote

_NUM_LIKELY = 20
_CACHE_TOKENS = 4_096


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenHole:
    """The ids of a hole as far as the system reports them, half-typed bytes included; its text."""

    ids: tuple[int, ...]
    text: str


class Writer(Protocol):
    """A system with one model, which it runs greedily."""

    name: str

    def write(self, task: FillTask) -> WrittenHole:
        """Return the hole's tokens. Raises RemoteError."""
        ...

    def likely(self, ids: Sequence[int]) -> Mapping[int, float]:
        """Return the likeliest tokens after these ids, and their log-probabilities in nats."""
        ...


class OwnEngine:
    """Our engine's decoder: drafts of the whole hole, verified by the backbone."""

    def __init__(self, context: OpenContext, text: FimTokenizer, *, name: str) -> None:
        self.name = name
        self.text = text
        self._context = context
        self._writer = HoleWriter(context, text, EntropyPolicy())

    def write(self, task: FillTask) -> WrittenHole:
        self._context.prefill(task.context)
        return _as_written(self.text, task, self._writer.write(task).ids)

    def likely(self, ids: Sequence[int]) -> Mapping[int, float]:
        self._context.prefill(ids)
        best = torch.log_softmax(self._context.next_logits().float(), dim=-1).topk(_NUM_LIKELY)
        return dict(zip(best.indices.tolist(), best.values.tolist(), strict=True))


class RemoteEngine:
    """A server of another engine, asked as a user's remote is."""

    def __init__(self, link: ServerLink, dialect: Dialect, text: FimTokenizer, name: str) -> None:
        self.name = name
        self._link = link
        self._dialect = dialect
        self._text = text

    def write(self, task: FillTask) -> WrittenHole:
        reader = ContextReader(self._link, self._dialect, num_slots=1)
        run = HoleRun(self._link, self._dialect, reader, self._text, task)
        return _as_written(self._text, task, run.run(lambda _: None).ids)

    def likely(self, ids: Sequence[int]) -> Mapping[int, float]:
        generation = Generation(prompt=ids, max_tokens=1, num_likely=_NUM_LIKELY)
        checkpoint = NO_CONTROL.checkpoint
        with closing(self._link.generate(self._dialect, generation, checkpoint)) as chunks:
            tokens = [token for chunk in chunks for token in chunk.tokens]
        return {other.id: other.log_p for token in tokens[:1] for other in token.likeliest}


def load_own_engine(model: str, dtype: Dtype) -> OwnEngine:
    """Load a model as our engine does. Raises ModelError."""
    folder = locate_model(model, lambda *_: None, rows_tuned_by=rows_tuned_by)
    text = read_fim_tokenizer(folder.path)
    loaded = load_backbone(
        folder,
        read_shape(folder.config),
        dtype,
        choose_device("auto"),
        adapters=AdapterFiles(draft=folder.adapter),
        mask_id=text.mask_id,
    )
    loaded.backbone.prepare()
    context = OpenContext(loaded.backbone, cache_tokens=_CACHE_TOKENS)
    return OwnEngine(context, text, name=f"intarsia ({loaded.format_name})")


def open_remote_engine(remote: Remote) -> RemoteEngine:
    """Ask a server what it is, and check its tokenizer. Raises RemoteError, ModelError."""
    link = ServerLink(remote)
    watch = link.watch(NO_CONTROL.checkpoint)
    server = discover(remote, watch)
    text = read_tokenizer(remote)
    dialect = dialect_of(remote, server, text)
    check_tokenizer(remote, server, text, dialect, watch)
    name = f"{server.system} ({server.format})" if server.format else server.system
    return RemoteEngine(link, dialect, text, name)


def _as_written(text: FimTokenizer, task: FillTask, ids: Sequence[int]) -> WrittenHole:
    hole_text = HoleText(text, task)
    kept = ids[: hole_text.num_until_end(ids)]
    tokens = hole_text.tokens(kept, [1.0] * len(kept), num_committed=len(kept))
    return WrittenHole(ids=tuple(kept), text="".join(token.text for token in tokens))
