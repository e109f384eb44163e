"""Discrete diffusion on token ids: the denoising loop and the parts of its policy.

``denoise.denoise`` is the loop, ``policies`` has a ready policy for each kind of diffusion, and
``canvas.TokenCanvas`` is the value that a step replaces. Knows no text and no model.
"""
