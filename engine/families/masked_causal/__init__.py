"""The default family: a causal backbone, and a small block-diffusion network that drafts for it."""
