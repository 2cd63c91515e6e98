"""The Celery application: where messages go, and nothing about what they mean."""

import os
from typing import Any

from celery import Celery, signals
from kombu import Queue

from models.loading import begin_loading, end_loading
from models.logs import configure_logging
from models.messages import QUEUE_OF_TASK, QUEUES
from models.settings import get_settings, kombu_url
from workers.schedule import LONGEST_SLEEP_SECONDS, beat_schedule
from workers.transport import PromptAMQP, check_messages

check_messages()
# Workers load the tasks (`--include workers.tasks`). Beat needs their names alone, and imports a third as long.
app = Celery("longtail", amqp=PromptAMQP)
app.conf.update(
    broker_url=kombu_url(get_settings().broker_url() or "redis://127.0.0.1:6379/0"),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,  # a broker that is away comes back; a worker that gave up does not
    broker_transport_options={"socket_timeout": 10, "socket_connect_timeout": 2, "visibility_timeout": 600},
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    task_queues=[Queue(name) for name in QUEUES],
    task_routes={task: {"queue": queue} for task, queue in QUEUE_OF_TASK.items()},
    task_create_missing_queues=False,
    worker_prefetch_multiplier=1,
    worker_send_task_events=True,  # Flower
    worker_hijack_root_logger=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,  # doorbells carry no work that could run twice
    timezone="UTC",
    beat_schedule=beat_schedule(get_settings()),
    beat_max_loop_interval=LONGEST_SLEEP_SECONDS,
)


@signals.setup_logging.connect
def _log_json_lines(**_: Any) -> None:
    """Workers and beat log like the API; being connected keeps Celery from setting up its own way."""
    configure_logging(get_settings().log_level)


@signals.worker_init.connect
def _give_way(**_: Any) -> None:
    """What happens later yields the processor to what answers now."""
    os.nice(get_settings().worker_niceness)


@signals.worker_init.connect
def _before_the_tasks_are_loaded(**_: Any) -> None:
    begin_loading()


@signals.beat_init.connect
def _beat_is_loaded(**_: Any) -> None:
    begin_loading()
    end_loading()


@signals.celeryd_after_setup.connect
def _before_children_are_forked(**_: Any) -> None:
    end_loading()
