"""Providers of MPIs: each installs what an environment declares into a prefix of its own.

A provider is a module with ``VERSION`` (raised when it would install the same declaration
differently), ``resolve(declaration)`` (the declaration with what was found of it, or the reason why
it cannot be had), ``requirements(declaration)`` (what is locked for it or was found, as text that
enters the digest) and ``install(declaration, prefix, command)``.
"""
