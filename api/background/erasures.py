"""Erasures that are under way: each in a thread and one transaction, with how far it is; what is done is a row."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid4

import structlog

from models.errors import NotFound, ServiceError, TransientError
from models.store.tenancy.erasure import Kind, OnStep

log = structlog.get_logger(__name__)
MOST_JOBS: Final = 16  # that run or wait; two run at once, because a deletion keeps a disk busy
AT_ONCE: Final = 2
KEPT_SECONDS: Final = 600.0  # that a finished job is told about; an erasure is known by its row for ever
WAIT_SECONDS: Final = 3600.0

Counts = dict[str, int]
Deed = Callable[[UUID, OnStep], Counts]


@dataclass(slots=True, kw_only=True)
class Job:
    """One erasure or rehearsal; `counts` or `error` is set when it is over."""

    id: UUID
    tenant_id: UUID
    token_id: UUID | None
    kind: Kind
    name: str
    is_dry: bool
    step: int = 0
    steps: int = 0
    counts: Counts | None = None
    error: ServiceError | None = None
    ended_at: float | None = None
    over: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> Counts:
        """What went, when it is over; raises what kept it from being done."""
        if not self.over.wait(WAIT_SECONDS):
            raise TransientError(
                f"erasing {self.kind} '{self.name}' takes longer than {WAIT_SECONDS:.0f} s; it goes on",
                remedy=f"GET /v1/erasures/{self.id} tells how far it is",
            )
        if self.error is not None:
            raise self.error
        return self.counts or {}


class ErasureJobs:
    """What this process erases now, and did a while ago."""

    def __init__(self) -> None:
        self._jobs: dict[UUID, Job] = {}
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def start(
        self, deed: Deed, *, tenant_id: UUID, token_id: UUID | None, kind: Kind, name: str, is_dry: bool
    ) -> Job:
        """Do it in a thread of its own, now or when one of the places is free."""
        job = Job(id=uuid4(), tenant_id=tenant_id, token_id=token_id, kind=kind, name=name, is_dry=is_dry)
        with self._lock:
            self._forget_old()
            if sum(not one.over.is_set() for one in self._jobs.values()) >= MOST_JOBS:
                raise TransientError(f"{MOST_JOBS} erasures are under way", remedy="repeat the call later")
            self._jobs[job.id] = job
        threading.Thread(target=self._run, args=(job, deed), name="erasure", daemon=True).start()
        return job

    def find(self, job_id: UUID, *, tenant_id: UUID) -> Job | None:
        """A job of the tenant, while it runs and for a while after."""
        with self._lock:
            job = self._jobs.get(job_id)
        return job if job is not None and job.tenant_id == tenant_id else None

    def _run(self, job: Job, deed: Deed) -> None:
        def hear(step: int, steps: int) -> None:
            job.step, job.steps = step, steps

        try:
            with self._places:
                job.counts = deed(job.id, hear)
        except ServiceError as error:
            job.error = error
        except Exception as error:  # noqa: BLE001 - a thread has nobody to raise to: whoever asks is told
            log.error("erasure.failed", error=type(error).__name__)
            job.error = ServiceError(
                "the erasure failed; nothing was erased",
                remedy="see 'longtail logs api', then repeat the call",
            )
        finally:
            job.ended_at = time.monotonic()
            job.over.set()

    def _forget_old(self) -> None:
        now = time.monotonic()
        for job in list(self._jobs.values()):
            if job.ended_at is not None and now - job.ended_at > KEPT_SECONDS:
                del self._jobs[job.id]


def unknown_erasure(job_id: UUID) -> NotFound:
    """Neither under way nor done: the process that had it may have ended, and its transaction with it."""
    return NotFound(
        f"no erasure '{job_id}' is under way or done: what it was for is as it was",
        remedy="GET /v1/erasures lists those that are done; repeat the call if it was broken off",
    )
