"""Contexts on disk: to the bit what was read, in another process too, and never what is damaged."""

import logging
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch
from cancel_when import cancelling
from llvmlite import binding
from numpy.typing import NDArray
from safetensors.torch import save
from toy_causal import toy_backbone, toy_fill, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.cache.kept_files import KeptFiles, Limits, usage_of
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.context_store import identity, tensor_file
from intarsia.engine.families.masked_causal.context_store.identity import context_identity
from intarsia.engine.families.masked_causal.context_store.store import BLOCK_TOKENS, ContextStore
from intarsia.engine.families.masked_causal.context_store.tensor_file import (
    DamagedFileError,
    from_file,
    to_file,
)
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.filler import ModelInfo
from intarsia.engine.ipc.messages import Prefetch
from intarsia.engine.model_store.locate import ModelFolder, locate_model

LIMITS = Limits(max_bytes=10_000_000, max_age_s=3600)
CODE = "def total(items):\n    result = 0\n    for item in items:\n        result += item.price\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "contexts"


@pytest.fixture
def backbone(toy: Path) -> CausalBackbone:
    return toy_backbone(toy)


def open_store(root: Path, key: str = "k", limits: Limits = LIMITS) -> ContextStore:
    return ContextStore(KeptFiles(root, key, limits), key)


def started(root: Path, backbone: CausalBackbone, cache_tokens: int = 4096) -> OpenContext:
    """Return the contexts of an engine that has just started."""
    return OpenContext(backbone, cache_tokens=cache_tokens, store=open_store(root))


def start_filler(
    root: Path, toy: Path, backbone: CausalBackbone, max_context_tokens: int = 400
) -> MaskedCausalFiller:
    info = ModelInfo(name="toy", family="", device="cpu", dtype="", notes=())
    context = started(root, backbone)
    return MaskedCausalFiller(context, toy_text(toy), info, max_context_tokens=max_context_tokens)


def tokens(length: int, seed: int = 0) -> list[int]:
    chance = random.Random(seed)
    return [chance.randrange(250) for _ in range(length)]


def read_and_store(context: OpenContext, ids: Sequence[int]) -> None:
    context.prefill(ids, may_be_stored=True)
    context.store(NO_CONTROL)


def kept_files(root: Path) -> list[Path]:
    return sorted(root.rglob("*.safetensors"))


class TestAfterARestart:
    """An engine starts, and finds what an earlier one read."""

    def test_nothing_is_read_again(self, root: Path, backbone: CausalBackbone) -> None:
        ids = tokens(150)
        read_and_store(before := started(root, backbone), ids)
        after = started(root, backbone)
        again = after.prefill(ids, may_be_stored=True)
        assert (again.num_reused, again.num_computed) == (150, 0)
        assert torch.equal(after.next_logits(), before.next_logits())
        for kept, read in zip(after.cache.rows(0, 150), before.cache.rows(0, 150), strict=True):
            assert torch.equal(kept, read)

    @pytest.mark.parametrize("num_shared", [1, 40, 63, 64, 65, 128, 149])
    def test_only_what_changed_is_read(
        self, num_shared: int, root: Path, backbone: CausalBackbone
    ) -> None:
        read_and_store(started(root, backbone), tokens(150))
        changed = tokens(150)[:num_shared] + [251] * 20
        after = started(root, backbone).prefill(changed, may_be_stored=True)
        is_worth_it = num_shared >= 32
        assert after.num_reused == (num_shared if is_worth_it else 0)

    def test_the_same_texts_are_written(
        self, root: Path, toy: Path, backbone: CausalBackbone
    ) -> None:
        request = toy_fill(CODE + "    re", "\n\nprint(total([]))\n" * 3, keeps_context=True)
        before = start_filler(root, toy, backbone)
        first = run_fill(before, request)
        before.store_contexts(NO_CONTROL)
        second = run_fill(start_filler(root, toy, backbone), request)
        assert first.num_reused == second.num_prefilled == 0
        assert second.num_reused == first.num_prefilled
        assert (second.text, second.tokens) == (first.text, first.tokens)

    def test_a_context_ends_where_it_ended_before(
        self, root: Path, toy: Path, backbone: CausalBackbone
    ) -> None:
        """Lines typed after the boundary cost their own tokens, and not the suffix again."""
        suffix = "\n\nprint(total([]))\n" * 3
        before = start_filler(root, toy, backbone)
        for typed in ("", "    re", "    return result\n\nx ="):
            run_fill(before, toy_fill(CODE + typed, suffix, keeps_context=True))
        before.store_contexts(NO_CONTROL)
        after = start_filler(root, toy, backbone)
        typed_on = toy_fill(CODE + "    return result\n\nx = 1", suffix, keeps_context=True)
        assert run_fill(after, typed_on).num_prefilled < 8

    @pytest.mark.parametrize("suffix", ["", "\n"])
    def test_so_it_does_at_the_end_of_a_file(
        self, suffix: str, root: Path, toy: Path, backbone: CausalBackbone
    ) -> None:
        before = start_filler(root, toy, backbone)
        run_fill(before, toy_fill(CODE * 2, suffix, keeps_context=True))
        before.store_contexts(NO_CONTROL)
        after = start_filler(root, toy, backbone)
        typed_on = toy_fill(CODE * 2 + "    return result\n    x =", suffix, keeps_context=True)
        assert run_fill(after, typed_on).num_prefilled < 32

    def test_one_put_out_of_memory_is_restored(self, root: Path, backbone: CausalBackbone) -> None:
        context = started(root, backbone, cache_tokens=300)
        for seed in range(6):
            read_and_store(context, tokens(100, seed))
        assert context.cached_tokens() <= 300
        assert context.prefill(tokens(100, 0), may_be_stored=True).num_computed == 0

    def test_a_longer_one_in_memory_goes_before_one_on_disk(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        read_and_store(started(root, backbone), tokens(100))
        after = started(root, backbone)
        after.prefill([*tokens(100), *tokens(60, 1)], may_be_stored=True)
        again = after.prefill([*tokens(100), *tokens(60, 1), 7], may_be_stored=True)
        assert again.num_computed == 1


class TestPermission:
    """A request that forbids it leaves nothing on disk, and takes nothing from there."""

    def test_nothing_is_written_without_it(self, root: Path, toy: Path, backbone: CausalBackbone):
        filler = start_filler(root, toy, backbone)
        run_fill(filler, toy_fill(CODE * 2))
        filler.prefetch(Prefetch(prefix=CODE * 3, suffix=""), NO_CONTROL)
        filler.prepare(NO_CONTROL)
        filler.store_contexts(NO_CONTROL)
        assert not root.exists()

    def test_a_place_read_ahead_has_its_own(self, root: Path, toy: Path, backbone: CausalBackbone):
        filler = start_filler(root, toy, backbone)
        run_fill(filler, toy_fill(CODE * 2))
        ahead = Prefetch(prefix="import os\n" * 20, suffix="", keeps_context=True)
        filler.prefetch(ahead, NO_CONTROL)
        filler.store_contexts(NO_CONTROL)
        (ids,) = open_store(root).contexts()
        assert "import os" in toy_text_of(toy, ids)
        assert "total" not in toy_text_of(toy, ids)

    def test_what_is_prepared_has_that_of_its_own_request(
        self, root: Path, toy: Path, backbone: CausalBackbone
    ) -> None:
        """A fill that forbids it runs within one that allows it, and is prepared for later."""
        filler = start_filler(root, toy, backbone, max_context_tokens=1000)
        head, secrets = "import os\n" * 20, "secret = 'abc'\n" * 17
        run_fill(filler, toy_fill(head))
        run_fill(filler, toy_fill(CODE * 2, keeps_context=True))
        with filler.suspended():
            run_fill(filler, toy_fill(head + secrets))
        num_held = filler.cached_tokens()
        filler.prepare(NO_CONTROL)
        assert filler.cached_tokens() > num_held, "there was a nearer boundary to prepare"
        filler.store_contexts(NO_CONTROL)
        (kept,) = open_store(root).contexts()
        assert "secret" not in toy_text_of(toy, kept)

    def test_one_taken_over_by_another_window_follows_that_one(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        context = started(root, backbone)
        context.prefill(tokens(100), may_be_stored=True)
        context.prefill([*tokens(100), 5, 6, 7], may_be_stored=False)
        context.store(NO_CONTROL)
        assert not root.exists()

    def test_nothing_is_restored_without_it(self, root: Path, backbone: CausalBackbone) -> None:
        read_and_store(started(root, backbone), tokens(100))
        assert started(root, backbone).prefill(tokens(100)).num_reused == 0

    def test_no_text_of_a_hole_is_written(self, root: Path, backbone: CausalBackbone) -> None:
        context = started(root, backbone)
        context.prefill(tokens(100), may_be_stored=True)
        context.read(tokens(30, 1))
        context.store(NO_CONTROL)
        assert open_store(root).contexts() == [tokens(100)]


def toy_text_of(toy: Path, ids: Sequence[int]) -> str:
    return b"".join(map(toy_text(toy).bytes_of, ids)).decode()


class TestFiles:
    """What is on disk, and what is not."""

    def test_contexts_that_begin_alike_share_blocks(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        context = started(root, backbone)
        read_and_store(context, tokens(192))
        num_files = len(kept_files(root))
        read_and_store(context, [*tokens(128), *tokens(64, 1)])
        assert num_files == 192 // BLOCK_TOKENS + 1
        assert len(kept_files(root)) == num_files + 1 + 1, "the new end, and the new record"

    def test_a_few_new_tokens_are_not_written(self, root: Path, backbone: CausalBackbone) -> None:
        context = started(root, backbone)
        read_and_store(context, tokens(100))
        files = kept_files(root)
        read_and_store(context, [*tokens(100), 1, 2, 3])
        assert kept_files(root) == files

    def test_only_the_newest_states_of_a_file_stay(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        context = started(root, backbone)
        for seed in range(1, 8):
            read_and_store(context, [*tokens(100), *tokens(40, seed)])
        kept = open_store(root).contexts()
        assert [ids[100:] for ids in kept] == [tokens(40, seed) for seed in range(4, 8)]
        needed = 1 + 2 * 4  # the block that all share, and for each context the two after it
        assert len(kept_files(root)) == needed + 4

    def test_those_written_at_once_are_the_last_used(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        context = started(root, backbone)
        for seed in range(1, 8):
            context.prefill([*tokens(100), *tokens(40, seed)], may_be_stored=True)
        for _ in range(2):
            context.store(NO_CONTROL)
            kept = open_store(root).contexts()
            assert [ids[100:] for ids in kept] == [tokens(40, seed) for seed in range(4, 8)]

    def test_the_newest_state_of_each_file_is_written_first(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        """There was time for four blocks: two of each file."""
        context = started(root, backbone)
        context.prefill(tokens(100, 1), may_be_stored=True)
        for end in (2, 3, 4):
            context.prefill([*tokens(64, 9), *tokens(50, end)], may_be_stored=True)
        chance = iter([False] * 4 + [True])
        with pytest.raises(Cancelled):
            context.store(cancelling(lambda: next(chance)))
        newest = [*tokens(64, 9), *tokens(50, 4)]
        assert open_store(root).contexts() == [tokens(100, 1), newest]
        context.store(NO_CONTROL)
        assert len(open_store(root).contexts()) == 4

    def test_what_was_deleted_is_not_written_again(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        context = started(root, backbone)
        read_and_store(context, tokens(100))
        shutil.rmtree(root)
        context.store(NO_CONTROL)
        assert not root.exists()

    def test_the_budget_holds_and_the_rest_is_restored(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        read_and_store(started(root, backbone), tokens(100, 0))
        one = usage_of(root).num_bytes
        limits = replace(LIMITS, max_bytes=int(3.5 * one))
        context = OpenContext(backbone, cache_tokens=0, store=open_store(root, limits=limits))
        for seed in range(1, 8):
            read_and_store(context, tokens(100, seed))
            assert usage_of(root).num_bytes <= limits.max_bytes
        after = started(root, backbone)
        computed = [
            after.prefill(tokens(100, seed), may_be_stored=True).num_computed for seed in range(8)
        ]
        assert computed[-3:] == [0, 0, 0]
        assert computed[0] == 100

    def test_restoring_can_be_cancelled_between_two_blocks(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        ids = tokens(4 * BLOCK_TOKENS)
        read_and_store(started(root, backbone), ids)
        store, cache = open_store(root), backbone.new_cache()
        with pytest.raises(Cancelled):
            store.restore(ids, cache, cancelling(lambda: len(cache) >= 2 * BLOCK_TOKENS))
        assert len(cache) == 2 * BLOCK_TOKENS
        context = started(root, backbone)
        with pytest.raises(Cancelled):
            context.prefill(ids, cancelling(lambda: True), may_be_stored=True)
        assert context.cached_tokens() == 0, "a part of a context is not taken for the whole"
        assert context.prefill(ids, may_be_stored=True).num_computed == 0

    def test_other_fills_may_run_while_a_context_is_restored(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        """The one in between is of the same file, puts the kept one out, and all are right."""
        ids, other = tokens(3 * BLOCK_TOKENS), tokens(100, 1)
        read_and_store(started(root, backbone), ids)
        context, ran = started(root, backbone, cache_tokens=512), []

        def run_another() -> None:
            if not ran:
                ran.append(True)
                with context.suspended():
                    for seed in range(2, 6):
                        read_and_store(context, [*ids[:-40], *tokens(60, seed)])
                    context.prefill(other)

        context.prefill(ids, FillControl(checkpoint=run_another), may_be_stored=True)
        assert ran and context.cache.ids[: context.length] == ids
        cold = started(root.parent / "none", backbone)
        cold.prefill(ids)
        torch.testing.assert_close(context.next_logits(), cold.next_logits(), atol=1e-4, rtol=1e-4)

    def test_it_can_be_cancelled_and_goes_on(self, root: Path, backbone: CausalBackbone) -> None:
        context, asked = started(root, backbone), iter([False, True])
        context.prefill(tokens(192), may_be_stored=True)
        with pytest.raises(Cancelled):
            context.store(cancelling(lambda: next(asked)))
        (first,) = kept_files(root)
        written_at = first.stat().st_ino
        context.store(NO_CONTROL)
        assert first.stat().st_ino == written_at, "this block was not written again"
        assert open_store(root).contexts() == [tokens(192)]

    def test_the_budget_holds_when_every_pause_is_too_short(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        read_and_store(started(root, backbone), tokens(64))
        limits = replace(LIMITS, max_bytes=3 * usage_of(root).num_bytes)
        context = OpenContext(backbone, cache_tokens=0, store=open_store(root, limits=limits))
        for seed in range(1, 12):
            context.prefill(tokens(192, seed), may_be_stored=True)
            asked = iter([False, False, True])
            with pytest.raises(Cancelled):
                context.store(cancelling(lambda: next(asked)))  # noqa: B023 called at once
            assert usage_of(root).num_bytes <= limits.max_bytes

    def test_two_engines_may_write_the_same(self, root: Path, backbone: CausalBackbone) -> None:
        both = [started(root, backbone), started(root, backbone)]
        for context in both:
            read_and_store(context, tokens(100))
        assert started(root, backbone).prefill(tokens(100), may_be_stored=True).num_computed == 0

    def test_one_that_another_engine_removed_is_read_again(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        read_and_store(started(root, backbone), tokens(100))
        after = started(root, backbone)
        shutil.rmtree(root)
        assert after.prefill(tokens(100), may_be_stored=True).num_computed == 100


class TestDamage:
    """Whatever is wrong on disk: the same logits, as nothing was kept."""

    @pytest.fixture
    def files(self, root: Path, backbone: CausalBackbone) -> list[Path]:
        read_and_store(started(root, backbone), tokens(150))
        return kept_files(root)

    @pytest.mark.parametrize("kind", ["cut", "flipped", "empty", "renamed", "foreign"])
    def test_a_damaged_file_is_removed_and_never_used(
        self, kind: str, files: list[Path], root: Path, backbone: CausalBackbone
    ) -> None:
        cold = OpenContext(backbone, cache_tokens=4096)
        cold.prefill(tokens(150))
        for file in files:
            damage(file, kind, next(other for other in files if other != file))
            after = started(root, backbone)
            again = after.prefill(tokens(150), may_be_stored=True)
            assert again.num_computed > 0
            torch.testing.assert_close(after.next_logits(), cold.next_logits())
            assert not file.exists()
            after.store(NO_CONTROL)
            repaired = started(root, backbone).prefill(tokens(150), may_be_stored=True)
            assert repaired.num_computed == 0, "it was written again in the next pause"

    @pytest.mark.parametrize(
        "ids",
        [
            torch.zeros(0, dtype=torch.int32),
            torch.zeros(2, 100, dtype=torch.int32),
            torch.zeros(100, dtype=torch.float32),
            torch.zeros(100, dtype=torch.bfloat16),
        ],
        ids=["none", "a matrix", "no integers", "no number format of numpy"],
    )
    def test_a_record_that_is_none_is_removed(
        self, ids: torch.Tensor, root: Path, files: list[Path]
    ) -> None:
        name = "context-0.safetensors"
        (root / "k" / name).write_bytes(to_file(f"k/{name}", {"ids": ids}))
        assert open_store(root).contexts() == [tokens(150)]
        assert not (root / "k" / name).exists()

    @pytest.mark.parametrize("entry", ["keys:torch.no_such:1", "keys:torch.int8:9223372036854775"])
    def test_numbers_that_cannot_be_are_damage(self, entry: str, tmp_path: Path) -> None:
        file, about = tmp_path / "file", {"format": "intarsia-context-1", "key": "k"}
        about["tensors"] = entry
        file.write_bytes(save({}, {**about, "sha256": tensor_file._checksum(about, {})}))
        with pytest.raises(DamagedFileError):
            from_file("k", file)

    def test_a_folder_of_others_is_neither_read_nor_cleaned(
        self, root: Path, files: list[Path]
    ) -> None:
        old = root / "thesis" / "chapter.txt"
        old.parent.mkdir()
        old.write_text("written long ago")
        os.utime(old, (0, 0))
        root.chmod(0o755)
        assert open_store(root).contexts() == []
        assert old.exists()

    def test_any_flipped_byte_is_noticed(self, files: list[Path]) -> None:
        chance = random.Random(0)
        content = files[0].read_bytes()
        key = f"k/{files[0].name}"
        assert from_file(key, files[0])
        for _ in range(60):
            at = chance.randrange(len(content))
            files[0].write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
            with pytest.raises(DamagedFileError):
                from_file(key, files[0])

    def test_a_full_disk_is_said_once_and_disturbs_nothing(
        self,
        root: Path,
        backbone: CausalBackbone,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(KeptFiles, "write", full)
        context = started(root, backbone)
        with caplog.at_level(logging.WARNING):
            for seed in range(3):
                read_and_store(context, tokens(100, seed))
        (record,) = caplog.records
        assert "No space left on device" in record.message

    def test_a_folder_that_is_a_file_disturbs_nothing(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        root.write_bytes(b"")
        context = started(root, backbone)
        read_and_store(context, tokens(100))
        assert context.prefill(tokens(100), may_be_stored=True).num_computed == 0


def damage(file: Path, kind: str, other: Path) -> None:
    content = file.read_bytes()
    match kind:
        case "cut":
            file.write_bytes(content[: len(content) * 2 // 3])
        case "flipped":
            file.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        case "empty":
            file.write_bytes(b"")
        case "renamed":
            file.write_bytes(other.read_bytes())
        case "foreign":
            file.write_bytes(to_file(f"another model/{file.name}", {"ids": torch.arange(9)}))


class TestTensorFile:
    """Tensors to bytes and back."""

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.int32])
    def test_every_bit_comes_back(self, dtype: torch.dtype, tmp_path: Path) -> None:
        generator = torch.Generator().manual_seed(0)
        bits = torch.randint(0, 256, (3, 5, 7, dtype.itemsize), generator=generator)
        odd = bits.to(torch.uint8).view(dtype).squeeze(-1)
        usual = torch.randn(3, 40, 7, generator=generator).to(dtype)
        (tmp_path / "f").write_bytes(to_file("key", {"odd": odd, "usual": usual}))
        found = from_file("key", tmp_path / "f")
        for name, tensor in (("odd", odd), ("usual", usual)):
            assert found[name].dtype == dtype and found[name].shape == tensor.shape
            assert torch.equal(found[name].view(torch.uint8), tensor.view(torch.uint8))

    def test_exponents_are_compressed(self) -> None:
        usual = torch.randn(64, 128).to(torch.bfloat16)
        assert len(to_file("key", {"usual": usual})) < 0.8 * usual.nbytes

    def test_no_time_is_spent_on_bytes_that_do_not_shrink(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        coded: list[int] = []
        deflate = tensor_file._deflate

        def counted(plane: NDArray[np.uint8]) -> bytes:
            coded.append(len(plane))
            return deflate(plane)

        monkeypatch.setattr(tensor_file, "_deflate", counted)
        usual = torch.randn(1024, 256).to(torch.bfloat16)
        to_file("key", {"usual": usual})
        assert coded.count(usual.numel()) == 1, "the exponents, and not the mantissas"
        assert sum(coded) < 1.2 * usual.numel()

    def test_a_sample_that_deceives_costs_nothing_but_time(self, tmp_path: Path) -> None:
        """Every byte that is looked at is zero, and no other one is."""
        odd = torch.randint(1, 256, (64 * 1024,), dtype=torch.uint8)
        odd[:: 64 * 1024 // tensor_file._SAMPLE_BYTES | 1] = 0
        (tmp_path / "f").write_bytes(to_file("key", {"odd": odd}))
        assert torch.equal(from_file("key", tmp_path / "f")["odd"], odd)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("key_lanes", [1, 8, 16])
def test_rows_come_back_for_any_layout_of_keys(key_lanes: int, dtype: torch.dtype) -> None:
    shape = BackboneShape(
        num_layers=2, hidden=8, num_heads=2, num_kv_heads=2, head_dim=4, intermediate=8,
        vocab_size=9, norm_eps=1e-6, rope_theta=1e4, rope_scaling=None, max_positions=99,
    )  # fmt: skip

    def new() -> KvCache:
        cpu = torch.device("cpu")
        return KvCache(shape, dtype=dtype, device=cpu, key_lanes=key_lanes)

    first, second = new(), new()
    keys, values = torch.randn(2, 2, 2, 70, 4).to(dtype).unbind()
    first.append(list(range(64)), keys[:, :, :64], values[:, :, :64])
    first.append(list(range(6)), keys[:, :, 64:], values[:, :, 64:])
    second.copy_prefix(first, 70)
    for start, end in ((0, 70), (0, 64), (64, 70), (3, 5), (9, 67)):
        for found, put in zip(second.rows(start, end), (keys, values), strict=True):
            assert torch.equal(found, put[:, :, start:end])
    with pytest.raises(RuntimeError, match="another layout"):
        new().append([1, 2], keys[:, :, :1], values[:, :, :1])


class TestIdentity:
    """Kept contexts are found by an engine that would compute the same, and by no other."""

    @pytest.fixture
    def folder(self, toy: Path, tmp_path: Path) -> Iterator[ModelFolder]:
        shutil.copytree(toy, tmp_path / "model")
        yield locate_model(str(tmp_path / "model"), lambda *_: None, rows_tuned_by=no_tuning)

    def test_the_adapter_does_not_count(self, folder: ModelFolder, adapter: Path) -> None:
        assert identity_of(folder) == identity_of(replace(folder, adapter=adapter))

    def test_everything_else_does(
        self, folder: ModelFolder, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = [identity_of(folder), context_identity(folder, "float32")]
        found.append(identity_of(replace(folder, tunings=(adapter,))))
        weights = folder.weights[0]
        content = bytearray(weights.read_bytes())
        content[-1] ^= 1
        weights.write_bytes(content)
        found.append(identity_of(folder))
        (folder.path / "config.json").write_text('{"rope_theta": 2}')
        found.append(identity_of(folder))
        changed = tmp_path / "rotary.py"
        changed.write_text("# another pass\n")
        monkeypatch.setattr(identity, "_sources_of_passes", lambda: [changed])
        found.append(identity_of(folder))
        for library in ("numba", "llvmlite"):
            use_version(monkeypatch, library, "0.1")
            found.append(identity_of(folder))
        monkeypatch.setattr(torch, "__version__", "0.1")
        found.append(identity_of(folder))
        features = dict(binding.get_host_cpu_features())
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda: {**features, "new": True})
        found.append(identity_of(folder))
        monkeypatch.setattr(binding, "get_host_cpu_name", lambda: "another")
        found.append(identity_of(folder))
        monkeypatch.setattr(identity, "_LAYOUT", 99)
        found.append(identity_of(folder))
        assert len(set(found)) == len(found)

    def test_a_feature_that_the_processor_lacks_does_not_count(
        self, folder: ModelFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = identity_of(folder)
        features = dict(binding.get_host_cpu_features())
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda: {"new": False, **features})
        assert identity_of(folder) == before

    def test_contexts_of_another_identity_are_not_found(
        self, root: Path, backbone: CausalBackbone
    ) -> None:
        read_and_store(started(root, backbone), tokens(100))
        assert open_store(root, "another").num_kept(tokens(100)) == 0


def use_version(monkeypatch: pytest.MonkeyPatch, library: str, version: str) -> None:
    real = metadata.version
    monkeypatch.setattr(
        metadata, "version", lambda name: version if name == library else real(name)
    )


def identity_of(folder: ModelFolder) -> str:
    return context_identity(folder, "int8")


def no_tuning(*_: object) -> object:
    raise AssertionError("a folder has no tuning")
