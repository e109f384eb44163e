"""The server's connection to the engine process, its notices to users, and the tuned model to ask.

``EngineConnection`` is the public interface.
"""
