"""The light half of the engine: messages, transport, client. Imports neither torch nor transformers."""
