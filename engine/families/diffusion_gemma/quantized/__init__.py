"""DiffusionGemma's large matrices in float8 or four bits.

``quantize.quantize_gemma`` replaces the matrices of a loaded model. The other modules are number
formats, and layers and kernels that multiply by them.
"""
