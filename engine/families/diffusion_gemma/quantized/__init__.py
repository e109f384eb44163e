"""DiffusionGemma's large matrices in float8 or four bits: formats, layers and kernels."""
