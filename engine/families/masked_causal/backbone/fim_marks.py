"""The special tokens by which backbones know a hole, and files of a repository. No tokenizer."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class FimMarks:
    """The FIM marks of one family of backbones, each before its part of the prompt."""

    before_prefix: str
    before_suffix: str
    before_middle: str
    end: str  # what the model writes at the end of its middle
    is_suffix_first: bool = False
    is_middle_marked: bool = True  # else the middle follows the prefix at once


KNOWN_MARKS = (
    FimMarks(  # Qwen2.5-Coder (arXiv 2409.12186, section 3.2.2), Qwen3-Coder
        before_prefix="<|fim_prefix|>",
        before_suffix="<|fim_suffix|>",
        before_middle="<|fim_middle|>",
        end="<|endoftext|>",
    ),
    FimMarks(  # CodeGemma (arXiv 2406.11409, section 2; ai.google.dev, CodeGemma's prompts)
        before_prefix="<|fim_prefix|>",
        before_suffix="<|fim_suffix|>",
        before_middle="<|fim_middle|>",
        end="<|file_separator|>",
    ),
    FimMarks(  # StarCoder2 (arXiv 2402.19173, section 5.3), Granite Code (arXiv 2405.04324)
        before_prefix="<fim_prefix>",
        before_suffix="<fim_suffix>",
        before_middle="<fim_middle>",
        end="<|endoftext|>",
    ),
    FimMarks(  # Granite 3 (the list of special tokens of its tokenizer)
        before_prefix="<fim_prefix>",
        before_suffix="<fim_suffix>",
        before_middle="<fim_middle>",
        end="<|end_of_text|>",
    ),
    FimMarks(  # DeepSeek-Coder (arXiv 2401.14196, section 3.1): the suffix follows the hole's mark
        before_prefix="<｜fim▁begin｜>",
        before_suffix="<｜fim▁hole｜>",
        before_middle="<｜fim▁end｜>",
        end="<｜end▁of▁sentence｜>",
    ),
    FimMarks(  # Seed-Coder (arXiv 2506.03524, its format of fill-in-the-middle samples)
        before_prefix="<[fim-prefix]>",
        before_suffix="<[fim-suffix]>",
        before_middle="<[fim-middle]>",
        end="<[end▁of▁sentence]>",
        is_suffix_first=True,
    ),
    FimMarks(  # Codestral 22B (mistral-common's encode_fim): the mark of the middle is not used
        before_prefix="[PREFIX]",
        before_suffix="[SUFFIX]",
        before_middle="[MIDDLE]",
        end="</s>",
        is_suffix_first=True,
        is_middle_marked=False,
    ),
)
"""Where rows have the same marks, the one whose end the tokenizer has is taken."""


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
