"""The causal backbone: weights, tokenizer, forward passes in torch or int8, KV cache."""
