"""DiffusionGemma: text with a uniform-state block-diffusion model."""
