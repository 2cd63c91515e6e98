"""TLS on the way to servers of one's own: addresses carry it, a wrong certificate is refused, the stack works over it.

The server programs of the wheels speak no TLS; a terminator of the tests' own stands before them, as a load balancer would.
"""

import ipaddress
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import ValidationError

from api.client import ServiceClient
from api.stack.home.accounts import SERVER_ENVIRONMENT
from api.stack.home.layout import plan_layout
from api.stack.servers import postgres, valkey
from api.stack.servers.binaries import find_redis
from api.stack.sockets import ports
from api.stack.throwaway import ThrowawayStack, await_true
from models.errors import BrokerUnavailable, DatabaseUnavailable
from models.settings import Settings, derive_role_url

PASSWORD = "p@ss/w%rd"
# As docs/operations.md gives it: everything Celery needs and nothing that administrates.
ACL = "on >{password} ~* &* +@all -@admin -@dangerous +info"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost that signs itself, with its key in the same file; and another nobody trusts."""
    folder = tmp_path_factory.mktemp("tls")
    return make_certificate(folder / "ours.pem"), make_certificate(folder / "other.pem")


def make_certificate(path: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName(
        [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


# A process of its own: it says which port it took, speaks TLS there, and hands everything on to another loopback port.
TERMINATOR = """
import asyncio, ssl, sys
from api.stack.sockets.ports import find_free
certificate, to, alpn = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate)
if alpn:
    context.set_alpn_protocols([alpn])

async def pump(reader, writer):
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    writer.close()

async def serve(reader, writer):
    there = await asyncio.open_connection("127.0.0.1", int(to))
    await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


@contextmanager
def terminate_tls(certificate: Path, *, to: int, speaks: str = "") -> Iterator[int]:
    """A port that speaks TLS and hands everything on to a loopback port."""
    process = subprocess.Popen(
        [sys.executable, "-c", TERMINATOR, str(certificate), str(to), speaks],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def redis_over_tls(
    certificate: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """The address of a Redis behind TLS for its own user, and the same with a certificate that is not trusted."""
    port = ports.find_free()
    folder = tmp_path_factory.mktemp("redis")
    layout = plan_layout(folder, "nobody")
    process = subprocess.Popen(
        [
            *(
                str(find_redis(layout).server),
                "--port",
                str(port),
                "--bind",
                "127.0.0.1",
                "--dir",
                str(folder),
                "--save",
                "",
            ),
            *("--user", "longtail", *ACL.format(password=PASSWORD).split(), "--user", "default", "off"),
        ],
        env=SERVER_ENVIRONMENT,
        stdout=subprocess.DEVNULL,
    )
    try:
        ours, other = certificate
        with terminate_tls(ours, to=port) as tls_port:
            place = (
                f"rediss://longtail:{quote(PASSWORD, safe='')}@localhost:{tls_port}/0?ssl_cert_reqs=required"
            )
            addresses = tuple(f"{place}&ssl_ca_certs={quote(str(file))}" for file in (ours, other))
            deadline = time.monotonic() + 300
            while True:
                try:
                    valkey.probe(addresses[0])
                    break
                except BrokerUnavailable:
                    assert time.monotonic() < deadline
                    time.sleep(0.1)
            yield addresses[0], addresses[1]
    finally:
        process.kill()
        process.wait()


def test_a_redis_with_a_certificate_nobody_trusts_is_refused(redis_over_tls: tuple[str, str]) -> None:
    assert valkey.check_existing(redis_over_tls[0])["server"] == "valkey"
    with pytest.raises(BrokerUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
        valkey.check_existing(redis_over_tls[1])


def test_the_user_of_redis_administrates_nothing(redis_over_tls: tuple[str, str]) -> None:
    with redis.Redis.from_url(redis_over_tls[0]) as client:
        for command in (("CONFIG", "GET", "*"), ("FLUSHALL",), ("ACL", "LIST"), ("SHUTDOWN",)):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*command)


def test_the_pipeline_works_over_tls_with_a_user_of_its_own(redis_over_tls: tuple[str, str]) -> None:
    with ThrowawayStack({"LONGTAIL_ENCODER": "toy", "LONGTAIL_REDIS_URL": redis_over_tls[0]}) as stack:
        assert PASSWORD not in stack.run(["status"]).stdout
        with ServiceClient(url=stack.settings.service_url(), token=stack.settings.client_token()) as client:
            client.post_turns("s", [{"role": "user", "content": "The lighthouse is green."}], user_id="ann")
            await_true(lambda: not client.status()["pending"])
            found = client.search(query="lighthouse", user_id="ann")["results"]
        assert found[0]["text"] == "The lighthouse is green."
        password = (stack.home / "postgres.password").read_text().strip()
        check_postgres_over_tls(stack, password)


def check_postgres_over_tls(stack: ThrowawayStack, password: str) -> None:
    """The same for PostgreSQL, while a stack is there: verified certificates, and a refusal."""
    port = int(stack.settings.state()["database_url"].rpartition("port=")[2])
    ours, other = (make_certificate(stack.home / name) for name in ("ours.pem", "other.pem"))
    assert psycopg.pq.version() >= 170000, "libpq negotiates TLS at once from 17 on"
    with terminate_tls(ours, to=port, speaks="postgresql") as tls_port:
        place = f"postgresql://postgres:{quote(password)}@localhost:{tls_port}/longtail?sslmode=verify-full&sslnegotiation=direct"
        assert postgres.probe(f"{place}&sslrootcert={ours}")["version"]
        with pytest.raises(DatabaseUnavailable, match="certificate verify failed"):
            postgres.probe(f"{place}&sslrootcert={other}")


def test_the_addresses_of_service_roles_keep_what_the_owners_says_about_tls() -> None:
    owner = "postgresql://owner:secret@db.example/longtail?sslmode=verify-full&sslrootcert=/etc/ca.pem"
    for role in ("longtail_api", "longtail_worker", "longtail_report"):
        assert derive_role_url(owner, role).endswith(
            "@db.example/longtail?sslmode=verify-full&sslrootcert=/etc/ca.pem"
        )


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org", ""])
def test_an_address_beyond_loopback_is_refused_without_tls_in_front(host: str) -> None:
    with pytest.raises(ValidationError, match="LONGTAIL_TLS_IN_FRONT"):
        Settings(host=host)
    assert Settings(host=host, tls_in_front=True).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_an_address_on_loopback_needs_nothing(host: str) -> None:
    assert Settings(host=host).host == host
