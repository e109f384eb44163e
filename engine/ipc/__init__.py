"""The light half of the engine: messages, transport, client. Imports no torch."""
