"""The APIs of other engines, one file each: request, our fill, answer."""
