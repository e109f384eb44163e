"""The real default model, from the user's cache; it is downloaded and converted if missing."""

import pytest
from tokenizers import Tokenizer
from toy_causal import located, quiet

from intarsia.engine.cache.own_file import has_digest
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, find_model
from intarsia.engine.model_store.download import pull
from intarsia.engine.model_store.locate import ModelFolder

pytestmark = [pytest.mark.model, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def folder() -> ModelFolder:
    return located(DEFAULT_MODEL)


def test_the_file_is_the_official_one() -> None:
    row = find_model(DEFAULT_MODEL)
    assert row is not None
    assert has_digest(pull(DEFAULT_MODEL, quiet), row.sha256)


def test_the_tokenizer_is_the_models_own(folder: ModelFolder) -> None:
    tokenizer = Tokenizer.from_file(str(folder.path / "tokenizer.json"))
    special = {
        "<|endoftext|>": 151_643,
        "<|fim_prefix|>": 151_659,
        "<|fim_middle|>": 151_660,
        "<|fim_suffix|>": 151_661,
        "<|fim_pad|>": 151_662,
        "<|file_sep|>": 151_664,
    }
    assert {token: tokenizer.token_to_id(token) for token in special} == special
    source = "def f(x):\n    return x['ключ'] + 12345  # 😀\r\n\n\t\tdone"
    encoded = tokenizer.encode(source)
    assert tokenizer.decode(encoded.ids) == source
    assert [t for t in encoded.tokens if t.isdigit()] == list("12345"), "one token a digit"
