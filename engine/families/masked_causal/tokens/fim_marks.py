"""The special tokens by which causal backbones know a hole, and the files of a repository.

Knows no tokenizer.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class FimMarks:
    """The FIM marks of one family of backbones, in the order of the prompt."""

    before_prefix: str
    before_suffix: str
    before_middle: str
    mask: str  # its embedding is that of a masked canvas token, where the tokenizer has it
    end: str  # what the model writes at the end of its middle


KNOWN_MARKS = (
    FimMarks(  # Qwen2.5-Coder, Qwen3-Coder, CodeGemma
        before_prefix="<|fim_prefix|>",
        before_suffix="<|fim_suffix|>",
        before_middle="<|fim_middle|>",
        mask="<|fim_pad|>",
        end="<|endoftext|>",
    ),
    FimMarks(  # StarCoder, Granite
        before_prefix="<fim_prefix>",
        before_suffix="<fim_suffix>",
        before_middle="<fim_middle>",
        mask="<fim_pad>",
        end="<|endoftext|>",
    ),
    FimMarks(  # DeepSeek-Coder: the suffix follows the mark of the hole
        before_prefix="<｜fim▁begin｜>",
        before_suffix="<｜fim▁hole｜>",
        before_middle="<｜fim▁end｜>",
        mask="<｜fim▁hole｜>",
        end="<｜end▁of▁sentence｜>",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryMarks:
    """The marks before which a family of backbones expects a repository's name and its files."""

    before_name: str
    before_file: str  # its path and a line end follow, then its text
    after_name: str  # plain text
    is_path_in_prefix: bool  # the path of the file with the hole follows the mark of the prefix


KNOWN_REPOSITORY_MARKS = (
    RepositoryMarks(  # Qwen2.5-Coder (arXiv 2409.12186, section 3.2.2), Qwen3-Coder
        before_name="<|repo_name|>",
        before_file="<|file_sep|>",
        after_name="\n",
        is_path_in_prefix=False,
    ),
    RepositoryMarks(  # StarCoder2 (arXiv 2402.19173, section 5.3)
        before_name="<repo_name>",
        before_file="<file_sep>",
        after_name="",
        is_path_in_prefix=True,
    ),
)
