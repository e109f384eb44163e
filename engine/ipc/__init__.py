"""How a client talks with the engine: messages, transport, and how to find or start one.

Imports no torch, so the language server can use it. Its public interface is
``client.EngineClient`` and ``messages``.
"""
