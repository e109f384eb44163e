"""DiffusionGemma's weights on token ids: contexts, and forward passes over canvases."""
