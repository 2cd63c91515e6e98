"""HTTP to our own API over a plain socket: one request, one answer, one deadline.

`http.client` loads the e-mail parser and costs five times Python's own start. HTTP/1.0 needs none of it: the server
sends the answer whole and closes. `_socket` is the C module that `socket` is a wrapper of.
"""

import _socket
import time

from api.host.configuration import Configuration

MAX_ANSWER_BYTES = 32 * 1024 * 1024
PIECE_BYTES = 65_536


class Away(OSError):
    """The API did not give a whole answer in time; the same call may succeed later."""


class Unreachable(Away):
    """Nobody listens there: trying again in this call is of no use."""


class Client:
    """Speaks to one server as one token."""

    def __init__(self, configuration: Configuration) -> None:
        self._url = configuration.api_url()
        self._token = configuration.token()

    def post(
        self, path: str, body: str, *, seconds: float, idempotency_key: str | None = None
    ) -> tuple[int, str]:
        """Status and body of the answer; `Away` when there is none within the time."""
        if seconds <= 0:
            raise Away("no time is left")
        if not self._url:
            raise Unreachable(
                "no Longtail answers: none runs from this home, and LONGTAIL_PORT=0 names no port"
            )
        scheme, host, port, prefix = split_url(self._url)
        data = body.encode("ascii")
        head = [
            f"POST {prefix}{path} HTTP/1.0",
            f"Host: {host}:{port}" if port else "Host: localhost",
            "Content-Type: application/json",
            f"Content-Length: {len(data)}",
        ]
        if self._token:
            head.append(f"Authorization: Bearer {self._token}")
        if idempotency_key:
            head.append(f"Idempotency-Key: {idempotency_key}")
        try:
            request = "\r\n".join((*head, "", "")).encode("ascii") + data
            answer = exchange(scheme, host, port, request, seconds=seconds)
        except (OSError, UnicodeEncodeError) as error:
            kind = Away if isinstance(error, TimeoutError | Away) else Unreachable
            raise kind(f"no Longtail answers at {self._url}: {error}") from error
        return read_answer(answer)


def exchange(scheme: str, host: str, port: int, request: bytes, *, seconds: float) -> bytes:
    """Send the request, read until the server closes; the deadline holds for all of it."""
    deadline = time.monotonic() + seconds
    address: tuple[object, ...] | str = host
    if scheme == "unix":
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    else:
        found = _socket.getaddrinfo(host.encode("ascii"), port, 0, _socket.SOCK_STREAM)[0]
        family, kind, protocol, _, address = found
        connection = _socket.socket(family, kind, protocol)
    try:
        connection.settimeout(seconds)
        connection.connect(address)
        if scheme == "https":
            return _exchange_encrypted(connection, host, request, deadline)
        connection.settimeout(_time_left(deadline))
        connection.sendall(request)
        return _read_all(connection, deadline)
    finally:
        connection.close()


def _exchange_encrypted(connection: "_socket.socket", host: str, request: bytes, deadline: float) -> bytes:
    import socket
    import ssl

    plain = socket.socket(fileno=connection.detach())
    plain.settimeout(_time_left(deadline))
    with ssl.create_default_context().wrap_socket(plain, server_hostname=host) as encrypted:
        encrypted.sendall(request)
        return _read_all(encrypted, deadline)


def _read_all(connection: "_socket.socket", deadline: float) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        connection.settimeout(_time_left(deadline))
        piece = connection.recv(PIECE_BYTES)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
        if size > MAX_ANSWER_BYTES:
            raise Away(f"the answer has more than {MAX_ANSWER_BYTES} bytes")


def _time_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise Away("no answer in time")
    return left


def read_answer(answer: bytes) -> tuple[int, str]:
    """Status and body; an answer that was cut off is none.

    >>> read_answer(b"HTTP/1.1 202 Accepted\\r\\ncontent-length: 2\\r\\n\\r\\n{}")
    (202, '{}')
    """
    head, separator, body = answer.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    words = first.split(None, 2)
    if not separator or len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        raise Away("the answer is no HTTP")
    for header in headers:
        name, _, value = header.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip() != str(len(body)).encode():
            raise Away(
                f"the answer was cut off: {len(body)} of {value.decode('ascii', 'replace').strip()} bytes"
            )
    return int(words[1]), body.decode("utf-8", "replace")


def split_url(url: str) -> tuple[str, str, int, str]:
    """Scheme, host, port and path prefix of an address.

    >>> split_url("http://127.0.0.1:8765")
    ('http', '127.0.0.1', 8765, '')
    >>> split_url("https://[::1]/memory/")
    ('https', '::1', 443, '/memory')
    >>> split_url("unix:/run/longtail/api.sock")
    ('unix', '/run/longtail/api.sock', 0, '')
    """
    if url.startswith("unix:/"):
        return "unix", url.removeprefix("unix:"), 0, ""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in {"http", "https"}:
        raise Away(f"{url} is no http address; set LONGTAIL_API_URL to one")
    place, _, prefix = rest.partition("/")
    host, colon, port = place.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = place, ""
    if port and not (port.isascii() and port.isdigit()):
        raise Away(f"{url} has no number as its port; set LONGTAIL_API_URL to an http address")
    number = int(port) if port else (443 if scheme == "https" else 80)
    return scheme, host.strip("[]"), number, f"/{prefix}".rstrip("/")


def quote(part: str) -> str:
    """A path segment, percent-encoded.

    >>> quote("a/b ü")
    'a%2Fb%20%C3%BC'
    """
    kept = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in part.encode("utf-8", "replace"))
