"""Who is logged in: a browser holds a random id, this process the token behind it. Nothing of it is stored."""

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

IDLE_SECONDS: Final = 8 * 3600.0
MOST_LOGINS: Final = 1000  # those used last; whoever was forgotten logs in again


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The token somebody logged in with, and the word that every form of theirs must carry."""

    token: str
    form_key: str


class Logins:
    """Logins of one process, by the hash of the id in the browser's cookie.

    >>> logins = Logins(clock=iter((0.0, 1.0, 1.0 + 8 * 3600)).__next__)
    >>> key = logins.open("lt_token")
    >>> (logins.find(key) or "").token, logins.find(key)
    ('lt_token', None)
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._logins: OrderedDict[bytes, tuple[float, Login]] = OrderedDict()

    def open(self, token: str) -> str:
        """A new login; returns the id for the cookie."""
        key = secrets.token_urlsafe(32)
        login = Login(token=token, form_key=secrets.token_urlsafe(32))
        with self._lock:
            self._logins[_digest(key)] = (self._clock(), login)
            while len(self._logins) > MOST_LOGINS:
                self._logins.popitem(last=False)
        return key

    def find(self, key: str) -> Login | None:
        """The login of that id, unless it was idle for too long; looking keeps it alive."""
        digest = _digest(key)
        with self._lock:
            found = self._logins.pop(digest, None)
            now = self._clock()
            if found is None or now - found[0] >= IDLE_SECONDS:
                return None
            self._logins[digest] = (now, found[1])
            return found[1]

    def close(self, key: str) -> None:
        """The id opens nothing any more."""
        with self._lock:
            self._logins.pop(_digest(key), None)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
