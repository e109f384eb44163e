"""The causal backbone: its weights, its forward passes in torch or int8, and its KV cache."""
