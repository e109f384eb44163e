"""Where torch computes in tests of tiny models: on one thread, as more would only wait, or a card.

A conftest.py that imports ``one_thread`` applies it to every module of its folder.
"""

from collections.abc import Iterator

import pytest
import torch

ON_CARD = (
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA card"),
)
DEVICES = ["cpu", pytest.param("cuda", marks=ON_CARD)]


@pytest.fixture(scope="module", autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compute on one thread; a module marked ``model`` keeps the machine's own number."""
    num_threads = torch.get_num_threads()
    if request.node.get_closest_marker("model") is None:
        torch.set_num_threads(1)
    yield
    torch.set_num_threads(num_threads)
