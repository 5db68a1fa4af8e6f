"""A log in, the initiating error and rank out."""
