"""Training: holes as tokens come in, adapter weights go out. The engine that fills imports nothing
of this."""
