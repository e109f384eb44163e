"""What a model costs at full size, measured with random weights: no released model is needed."""
