"""A small network that drafts the tokens which a causal backbone probably writes next.

Its few layers read what the backbone has computed of the text anyway: the rows of some of its
layers become keys and values of the drafter's (DFlash, arXiv 2602.06036). A block of masks after
the newest token is denoised in one pass, from the backbone's last hidden state on; a serial head
then corrects each token by the one before (arXiv 2507.11851). The block is causal, so that any
beginning of it can be run. Only frequent tokens are drafted (FR-Spec, arXiv 2502.14856).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from intarsia.engine.arrays import (
    Array,
    floats,
    largest,
    linear,
    namespace,
    rounded_like,
    silu,
    unit_norm,
)
from intarsia.engine.decoding.speculation_policy import NO_PROPOSAL, Proposal
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rotary import (
    inverse_frequencies,
    rotate,
    rotation,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import Embeddings, LayerWeights
from intarsia.engine.model_store.checkpoint import read_safetensors_header
from intarsia.engine.model_store.mapped import map_tensors

LAYER_PARTS = ("attn_norm", "qkv", "o", "mlp_norm", "gate_up", "down")
SCALE_SUFFIX = ".scale"
"""The name of a matrix in int8 and this suffix name the scales of its rows."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SerialHead:
    """A small network over a row's hidden state and the token that was drafted at its own position.

    A row predicts the next token without knowing its own, so tokens that are drafted in parallel
    may not fit together. Drafted one by one through this head they do, at little cost.
    """

    down: Array  # (rank, 2 × hidden)
    up: Array  # (hidden, rank)

    def __call__(self, hidden: Array, own: Array) -> Array:
        """Return corrected hidden states (…, hidden), given the embeddings of their own tokens."""
        both = namespace(hidden).concat([unit_norm(hidden), unit_norm(own)], axis=-1)
        return hidden + linear(silu(linear(both, self.down)), self.up)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Drafter:
    """All weights of a drafter."""

    taps: tuple[int, ...]  # it reads the backbone's rows after these layers, counted from 1
    context: Array  # (layers · (key and value heads) · head_dim, taps · hidden)
    anchor: Array  # (hidden, hidden): what the last hidden state adds to each row of a block
    masks: Array  # (rows, hidden): what is added to the newest token, and the masks after it
    layers: tuple[LayerWeights, ...]  # shaped as the backbone's, without biases
    norm: Array  # (hidden,)
    head: SerialHead
    vocabulary: npt.NDArray[np.int64]  # (drafted,): the tokens that can be drafted

    @property
    def max_drafted(self) -> int:
        """Tokens of the longest draft: each row of a block drafts one."""
        return len(self.masks)

    def read(self, states: Array) -> Array:
        """Return (…, layers · 2 · kv heads · head_dim) of the backbone's rows (…, taps, hidden)."""
        return linear(joined_taps(states), self.context)

    def block(self, newest: Array, last_hidden: Array, num_rows: int) -> Array:
        """Return the inputs (…, num_rows, hidden) of a block after its newest token.

        ``newest`` (…, hidden) is the embedding of the newest token, ``last_hidden`` (…, hidden) the
        hidden state that predicted it.
        """
        x = linear(unit_norm(last_hidden), self.anchor)[..., None, :] + self.masks[:num_rows]
        first = x[..., :1, :] + unit_norm(newest)[..., None, :]
        return namespace(x).concat([first, x[..., 1:, :]], axis=-2)


def joined_taps(states: Array) -> Array:
    """Return rows (…, taps · hidden) of the backbone's rows (…, taps, hidden), each normalised."""
    return unit_norm(states).reshape(*states.shape[:-2], -1)


def read_drafter(
    path: Path, shape: BackboneShape, convert: Callable[[Array], Array] = floats
) -> Drafter:
    """Read a safetensors drafter; its arrays are what ``convert`` makes of NumPy's.

    Raises ModelError if it is damaged or does not fit.
    """
    try:
        metadata = read_safetensors_header(path).metadata
        taps = tuple(int(tap) for tap in metadata["taps"].split(","))
        tensors = {name: read() for name, read in map_tensors([path]).items()}
        return drafter_of(tensors, taps, shape=shape, convert=convert)
    except (OSError, ModelError, LookupError, TypeError, ValueError) as error:
        raise ModelError(
            f"the drafter {path.name} cannot be read, or is of another backbone ({error}): fetch "
            "or train it again"
        ) from error


def drafter_of(
    tensors: Mapping[str, Array],
    taps: tuple[int, ...],
    *,
    shape: BackboneShape,
    convert: Callable[[Array], Array] = floats,
) -> Drafter:
    """Return the drafter of a file's tensors. Raises KeyError, ValueError for others."""

    def get(name: str, *size: int) -> Array:
        tensor = tensors[name]
        if tensor.shape != size:
            raise ValueError(f"{name} is {tuple(tensor.shape)}, needed {size}")
        scale = tensors.get(name + SCALE_SUFFIX)
        numbers = floats(tensor) if scale is None else floats(tensor) * floats(scale)[:, None]
        if not namespace(numbers).isfinite(numbers).all():
            raise ValueError(f"{name} has numbers that are not finite")
        return convert(numbers)

    num_layers = sum(name.endswith(".attn_norm") for name in tensors)
    hidden, heads = shape.hidden, shape.num_heads * shape.head_dim
    kv = 2 * shape.num_kv_heads * shape.head_dim
    is_in_order = taps == tuple(sorted(set(taps))) and all(0 < n < shape.num_layers for n in taps)
    if not num_layers or not is_in_order or not taps:
        raise ValueError(f"{num_layers} layers that read {taps} of {shape.num_layers}")
    rank, intermediate = tensors["head.down"].shape[0], tensors["0.down"].shape[1]
    layers = tuple(
        LayerWeights(
            attn_norm=get(f"{i}.attn_norm", hidden),
            qkv=get(f"{i}.qkv", heads + kv, hidden),
            qkv_bias=None,
            q_norm=None,
            k_norm=None,
            o=get(f"{i}.o", hidden, heads),
            mlp_norm=get(f"{i}.mlp_norm", hidden),
            gate_up=get(f"{i}.gate_up", 2 * intermediate, hidden),
            down=get(f"{i}.down", hidden, intermediate),
        )
        for i in range(num_layers)
    )
    vocabulary = np.asarray(tensors["vocabulary"], np.int64)
    is_known = (vocabulary >= 0) & (vocabulary < shape.vocab_size)
    if vocabulary.ndim != 1 or not len(vocabulary) or not is_known.all():
        raise ValueError("its vocabulary is not the backbone's")
    return Drafter(
        taps=taps,
        context=get("context", num_layers * kv, len(taps) * hidden),
        anchor=get("anchor", hidden, hidden),
        masks=get("masks", len(tensors["masks"]), hidden),
        layers=layers,
        norm=get("norm", hidden),
        head=SerialHead(down=get("head.down", rank, 2 * hidden), up=get("head.up", hidden, rank)),
        vocabulary=vocabulary,
    )


class DraftProducts(Protocol):
    """The drafter's products, in the number format of its backbone."""

    def read(self, states: Array) -> Array:
        """Return (rows, layers · 2 · kv heads · head_dim) of rows (rows, taps, hidden)."""

    def run(self, x: Array, cache: KvCache) -> Array:
        """Run a causal block (rows, hidden) after the context; return hidden states."""

    def logits(self, hidden: Array) -> Array:
        """Return logits (rows, drafted) of hidden states (rows, hidden)."""


_NUM_CANDIDATES = 32


class Drafting:
    """A drafter beside its backbone: it reads each pass's rows, and drafts after the newest token.

    Its keys and values are the last layers of the context's cache, so that they are kept, copied
    and forgotten with the others.
    """

    def __init__(
        self,
        drafter: Drafter,
        embeddings: Embeddings,
        shape: BackboneShape,
        products: DraftProducts,
    ) -> None:
        self.taps = drafter.taps
        self.num_layers = len(drafter.layers)
        self._drafter = drafter
        self._embeddings = embeddings
        self._shape = shape
        self._products = products
        self._num_candidates = min(_NUM_CANDIDATES, len(drafter.vocabulary))
        self._frequencies = inverse_frequencies(shape)

    def read(self, states: Array, positions: npt.NDArray[np.int64], cache: KvCache) -> None:
        """Write keys and values of rows (rows, taps, hidden) at these positions (rows,)."""
        shape = self._shape
        read = self._products.read(states)
        xp = namespace(read)
        size = (len(read), self.num_layers, 2, shape.num_kv_heads, shape.head_dim)
        # (layers, kv heads, rows, head_dim) each
        keys, values = xp.permute_dims(read.reshape(size), (2, 1, 3, 0, 4))
        cosine, sine = (
            xp.asarray(each, dtype=keys.dtype, device=keys.device)
            for each in rotation(positions, self._frequencies)
        )
        cache.write_layers(shape.num_layers, rotate(keys, cosine, sine), values)

    def draft(
        self, newest: int, cache: KvCache, num_tokens: int, *, min_chance: float = 0.0
    ) -> Proposal:
        """Return the tokens that probably follow the newest one, which the cache does not hold.

        They end before the one where all of them together are less probable than ``min_chance``.
        Nothing where the hidden state that predicted the newest token was not kept.
        """
        last_hidden = cache.last_hidden(len(cache))
        num_rows = min(num_tokens, self._drafter.max_drafted)
        if last_hidden is None or not num_rows:
            return NO_PROPOSAL
        own = self._in_format(self._embeddings.embed[newest])
        x = self._drafter.block(own, self._in_format(last_hidden), num_rows)
        hidden = self._in_format(self._products.run(x, cache))
        found = largest(self._products.logits(hidden), self._num_candidates).tolist()
        return self._sample(hidden, self._drafter.vocabulary[found], own, min_chance)

    def _in_format(self, x: Array) -> Array:
        return rounded_like(floats(x), self._drafter.norm)

    def _sample(
        self, hidden: Array, candidates: npt.NDArray[np.int64], own: Array, min_chance: float
    ) -> Proposal:
        """Return a token of each row, scored by the serial head given the token before.

        Only each row's likeliest tokens (rows, candidates) are scored again.
        """
        head, embeddings = self._drafter.head, self._embeddings
        output = self._in_format(embeddings.output[candidates])
        plain = (output @ hidden[..., None])[..., 0]
        of_hidden, of_own = head.down[:, : len(own)], head.down[:, len(own) :]
        inner = linear(unit_norm(hidden), of_hidden)
        drafted: list[int] = []
        confidences: list[float] = []
        chance = 1.0
        for row, ids in enumerate(candidates):
            change = head.up @ silu(inner[row] + of_own @ unit_norm(own))
            logits = np.asarray(floats(plain[row] + output[row] @ change).tolist())
            best = float(1 / np.exp(logits - logits.max()).sum())
            chance *= best
            if chance < min_chance:
                break
            drafted.append(int(ids[logits.argmax()]))
            confidences.append(best)
            own = self._in_format(embeddings.embed[drafted[-1]])
        return Proposal(ids=drafted, confidences=confidences)
