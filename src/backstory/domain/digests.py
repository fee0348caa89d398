"""BLAKE2b without `hashlib`, which loads OpenSSL with it: 3.7 MB in every server that has looked for histories."""

from _blake2 import blake2b

__all__ = ["blake2b"]
