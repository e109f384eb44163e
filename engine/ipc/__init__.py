"""How a client finds, starts and talks with the engine: ``client.EngineClient``. No torch."""
