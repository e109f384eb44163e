"""Finds lines that an edit has made unlikely, and refills them, by denoising canvases."""
