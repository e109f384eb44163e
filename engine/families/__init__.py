"""The model families: each folder turns a request into a hole's text with one kind of model.

``masked_causal`` is the default, ``diffusion_gemma`` the uniform-state family. The modules here are
shared by both.
"""
