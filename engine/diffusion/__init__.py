"""Denoising on token ids: the same for every family of models."""
