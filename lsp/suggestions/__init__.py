"""What is shown in the editor: ghost text, its cache, and the pacing of requests."""
