"""Files that are kept between starts: where, one writer at a time, checked by digest."""
