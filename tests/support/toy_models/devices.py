"""Where a test of numbers runs: on the CPU, and on an NVIDIA GPU if there is one."""

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
