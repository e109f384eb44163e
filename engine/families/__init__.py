"""One file a model family, and the small protocol between them and the denoising loop."""
