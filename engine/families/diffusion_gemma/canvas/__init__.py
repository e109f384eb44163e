"""How a hole becomes a canvas: its token ids, its layout, and how it is denoised."""
