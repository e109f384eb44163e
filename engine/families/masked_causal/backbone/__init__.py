"""The causal backbone: its weights, its passes in torch or int8, its KV cache."""
