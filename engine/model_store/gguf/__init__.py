"""Convert a GGUF file into a folder of safetensors, config and tokenizer.

Its public interface is ``convert.convert`` and ``convert.converted_folder``.
"""
