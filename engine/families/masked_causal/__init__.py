"""Masked block diffusion on a causal backbone with a gated adapter: the default family."""
