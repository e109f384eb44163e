"""Convert a GGUF file into a folder of safetensors, config and tokenizer."""
