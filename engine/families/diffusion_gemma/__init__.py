"""The DiffusionGemma family: text from a uniform-state block-diffusion model.

``load.load_diffusion_gemma`` returns a ``filler.DiffusionGemmaFiller``. ``model.py`` runs the
implementation of transformers; the folder ``quantized`` holds its large matrices in fewer bits.
"""
