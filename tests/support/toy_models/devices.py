"""Where a test of numbers runs: here, and on an NVIDIA card where there is one (docs/gpu.md)."""

import pytest
import torch

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.gpu,
            pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA card"),
        ],
    ),
]
