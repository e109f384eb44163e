"""From a GGUF file to a folder of safetensors, config and tokenizer."""
