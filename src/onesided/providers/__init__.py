"""Providers of MPIs: each installs what an environment declares into a prefix of its own.

A provider is a module with ``VERSION`` (raised when it would install the same declaration
differently), ``requirements(declaration)`` (what is locked for it, as text that enters the digest)
and ``install(declaration, prefix, command)``.
"""
