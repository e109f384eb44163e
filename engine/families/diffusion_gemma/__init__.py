"""The DiffusionGemma family: text from a uniform-state block-diffusion model of transformers."""
