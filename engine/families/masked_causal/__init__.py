"""The default family: masked block diffusion on a causal backbone with a gated adapter."""
