"""Text around a hole as token ids, with the marks of each family of backbones."""
