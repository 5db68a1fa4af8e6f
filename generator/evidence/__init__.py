"""Upstream packages → where a message exists, from which release to which.

``packages`` fetches releases and keeps their sources, ``messages`` reads what Python code can print, ``match``
says whether a signature is one of these messages, ``search`` looks through a release for all signatures at
once, ``verify`` puts the releases together, ``record`` is what is kept of it, ``coverage`` counts how much of
what a release can print the encyclopedia explains.
"""
