"""First Fault: from structured failure entries to a site, a signature bundle and a diagnosis."""

__version__ = "0.1.0"
