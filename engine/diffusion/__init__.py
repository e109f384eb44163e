"""Discrete diffusion on token ids: the denoising loop and its policies. No text and no model."""
