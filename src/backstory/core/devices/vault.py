"""The key of a vault: how it is made, written down, checked and used to seal segments.

PyNaCl is imported by the functions that seal and open, and by nothing else."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from typing import Any, NamedTuple

from ...domain.errors import InvalidInput, Unavailable, Unreadable, install_hint

FORMAT = 1
KEY_BYTES = 32
NONCE_BYTES = 24
KEY_ID_BYTES = 8
CHECKSUM_BYTES = 2
CODE_PREFIX = "BK1"
CODE_GROUP_CHARS = 5
SCRYPT_COST = 2**17
SCRYPT_BLOCK = 8
SCRYPT_MEMORY = 2 * 128 * SCRYPT_COST * SCRYPT_BLOCK
_KNOWN_TEXT = b"backstory devices"
_TYPED_WRONG = str.maketrans("018", "OIB")
"""Digits that Base32 does not use, but that people read into handwriting."""


class Vault(NamedTuple):
    """The contents of `vault-N.json`, with the key."""

    id: str
    number: int
    """1 for the first key, one more for each new one."""
    key: bytes

    @property
    def key_id(self) -> bytes:
        return key_id(self.key)

    @property
    def file_name(self) -> str:
        return f"vault-{self.number}.json"


class VaultFile(NamedTuple):
    """The contents of `vault-N.json` that are readable without the key."""

    id: str
    number: int
    key_id: bytes
    check: bytes
    passphrase: dict[str, Any] | None

    def opened_with(self, key: bytes) -> Vault | None:
        """The vault, if this is its key."""
        if not hmac.compare_digest(key_id(key), self.key_id):
            return None
        return (
            None
            if unseal(key, _about(self.id, self.number), self.check) is None
            else Vault(self.id, self.number, key)
        )

    def opened_with_passphrase(self, passphrase: str) -> Vault | None:
        if self.passphrase is None:
            raise InvalidInput(
                "This vault has no passphrase.",
                hint="Join with the recovery code that `devices init` printed.",
            )
        try:
            salt = base64.b64decode(self.passphrase["salt"])
            cost, block = int(self.passphrase["n"]), int(self.passphrase["r"])
            sealed = base64.b64decode(self.passphrase["sealed"])
        except (KeyError, TypeError, ValueError):
            raise Unreadable("The vault's file is damaged.") from None
        # A forged file could ask for hours of work or all of the memory.
        if not 0 < cost <= SCRYPT_COST * 8 or not 0 < block <= SCRYPT_BLOCK * 2:
            raise Unreadable("The vault's file demands too much work; Backstory did not write it.")
        key = unseal(_stretched(passphrase, salt, cost, block), _about(self.id, self.number), sealed)
        return None if key is None else self.opened_with(key)


def new_vault(id: str = "", number: int = 1) -> Vault:
    return Vault(id or os.urandom(8).hex(), number, os.urandom(KEY_BYTES))


def key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"backstory devices key\0" + key).digest()[:KEY_ID_BYTES]


def vault_text(vault: Vault, passphrase: str = "") -> str:
    """The vault's file."""
    body: dict[str, Any] = {
        "format": FORMAT,
        "vault": vault.id,
        "number": vault.number,
        "key": vault.key_id.hex(),
        "check": _text(seal(vault.key, _about(vault.id, vault.number), _KNOWN_TEXT)),
    }
    if passphrase:
        salt = os.urandom(16)
        key = _stretched(passphrase, salt, SCRYPT_COST, SCRYPT_BLOCK)
        sealed = seal(key, _about(vault.id, vault.number), vault.key)
        # The costs are stored with the salt, so that they can be raised for new vaults.
        body["passphrase"] = {
            "salt": _text(salt),
            "n": SCRYPT_COST,
            "r": SCRYPT_BLOCK,
            "sealed": _text(sealed),
        }
    return json.dumps(body, indent=1) + "\n"


def read_vault_file(raw: bytes) -> VaultFile:
    """Parse a vault file. Raises Unreadable for other files and for unknown formats."""
    try:
        body = json.loads(raw)
        if body["format"] != FORMAT:
            raise Unreadable("The vault has a newer format.", hint="Update Backstory on this machine.")
        return VaultFile(
            str(body["vault"]),
            int(body["number"]),
            bytes.fromhex(body["key"]),
            base64.b64decode(body["check"]),
            body.get("passphrase"),
        )
    except (KeyError, TypeError, ValueError):
        raise Unreadable("The vault's file is damaged or incomplete.") from None


def recovery_code(key: bytes) -> str:
    letters = _letters(key)
    groups = [letters[at : at + CODE_GROUP_CHARS] for at in range(0, len(letters), CODE_GROUP_CHARS)]
    return "-".join([CODE_PREFIX, *groups])


def key_of_code(code: str) -> bytes:
    """Decode a recovery code, ignoring case and separators."""
    letters = "".join(char for char in code.upper() if char.isalnum()).translate(_TYPED_WRONG)
    # The prefix was translated with the rest: its 1 became an I.
    letters = letters.removeprefix(CODE_PREFIX.translate(_TYPED_WRONG))
    try:
        raw = base64.b32decode(letters + "=")
    except ValueError:
        raw = b""
    key = raw[:KEY_BYTES]
    # the last letter has bits that decoding ignores
    if len(key) != KEY_BYTES or _letters(key) != letters:
        raise InvalidInput(
            "That is not a recovery code.",
            hint=f"It begins with {CODE_PREFIX}- and has eleven groups; `backstory devices code` on the other machine shows it.",
            field="code",
        )
    return key


def seal(key: bytes, about: bytes, data: bytes) -> bytes:
    """A random nonce, then XChaCha20-Poly1305 of the data, bound to `about`."""
    nonce = os.urandom(NONCE_BYTES)
    sealed: bytes = _sodium().crypto_aead_xchacha20poly1305_ietf_encrypt(data, about, nonce, key)
    return nonce + sealed


def unseal(key: bytes, about: bytes, sealed: bytes) -> bytes | None:
    """The data; None for another key, another `about`, or changed bytes."""
    open_sealed = _sodium().crypto_aead_xchacha20poly1305_ietf_decrypt
    from nacl.exceptions import CryptoError  # after the hint for those who have not installed it

    try:
        data: bytes = open_sealed(sealed[NONCE_BYTES:], about, sealed[:NONCE_BYTES], key)
    except (CryptoError, ValueError):
        return None
    return data


def check_installed() -> None:
    """Raise Unavailable if the encryption package is not installed."""
    _sodium()


def _sodium() -> Any:
    """The bindings of libsodium, untyped."""
    try:
        import nacl.bindings  # an extra, for which a hint is given
    except ModuleNotFoundError as error:
        raise Unavailable(
            "Devices need a package that is not installed: PyNaCl.",
            hint=f"Install it with: {install_hint('devices')}",
        ) from error
    return nacl.bindings


def _stretched(passphrase: str, salt: bytes, cost: int, block: int) -> bytes:
    return hashlib.scrypt(
        passphrase.encode(),
        salt=salt,
        n=cost,
        r=block,
        p=1,
        maxmem=max(SCRYPT_MEMORY, 256 * cost * block),
        dklen=KEY_BYTES,
    )


def _letters(key: bytes) -> str:
    return base64.b32encode(key + _checksum(key)).decode().rstrip("=")


def _checksum(key: bytes) -> bytes:
    return hashlib.sha256(b"backstory devices code\0" + key).digest()[:CHECKSUM_BYTES]


def _about(vault: str, number: int) -> bytes:
    return f"{FORMAT}/{vault}/vault-{number}".encode()


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
