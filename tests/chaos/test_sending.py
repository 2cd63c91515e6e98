"""Claims about who rings the bells while Redis comes and goes."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery
from kombu.exceptions import OperationalError

from api.stack.home.layout import plan_layout
from api.stack.servers.binaries import find_redis
from models.settings import Settings
from workers.transport import PromptAMQP


class Server:
    """A Redis that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.program = find_redis(plan_layout(folder, Settings().run_as)).server
        self.socket = folder / "redis.sock"
        self.start()

    def start(self) -> None:
        command = [str(self.program), "--port", "0", "--unixsocket", str(self.socket), "--save", ""]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        client = redis.Redis(unix_socket_path=str(self.socket))
        deadline = time.monotonic() + 60
        while True:
            try:
                client.ping()
            except redis.ConnectionError:
                assert time.monotonic() < deadline, "Redis did not start"
                time.sleep(0.02)
            else:
                client.close()
                return

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()


def test_whoever_could_not_ring_while_redis_was_away_rings_when_it_is_back(server: Server) -> None:
    app: Any = Celery("sender", amqp=PromptAMQP, set_as_current=False)
    app.conf.update(
        broker_url=f"redis+socket://{server.socket}", task_publish_retry_policy={"max_retries": 1}
    )
    with app.connection_for_write() as connection:
        producer = app.amqp.Producer(connection, auto_declare=False)  # as beat has it: one for its whole life
        app.send_task("ring", producer=producer)
        server.kill()
        with pytest.raises(OperationalError):
            app.send_task("ring", producer=producer)
        server.start()
        app.send_task("ring", producer=producer)
    app.close()
    with redis.Redis(unix_socket_path=str(server.socket)) as client:
        assert client.llen("celery") == 1
