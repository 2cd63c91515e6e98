"""The real host with the plugin, a stub model, and a Longtail of its own that tests may stop."""

from collections.abc import Callable, Iterator

import pytest
from gateway import Gateway
from installation import Host, install_host
from service import Service
from stub_model import Answer, Prompt, StubModel, stub_model

from api.stack.throwaway import ThrowawayStack

QUICK = {
    "LONGTAIL_SWEEP_SECONDS": "1",
    "LONGTAIL_RETRY_BACKOFF_SECONDS": "0.2",
    "LONGTAIL_ENCODER_THREADS": "1",
    "LONGTAIL_COMPACTION_JITTER_SECONDS": "0",
}


@pytest.fixture(scope="session")
def host() -> Host:
    return install_host()


@pytest.fixture(scope="session")
def service(host: Host) -> Iterator[Service]:
    with ThrowawayStack(QUICK) as stack:
        yield Service(stack)


@pytest.fixture(scope="session")
def _model() -> Iterator[StubModel]:
    with stub_model() as found:
        yield found


@pytest.fixture
def model(_model: StubModel) -> StubModel:
    """The stub, with its usual answer."""
    _model.answer = lambda _: {"text": "Understood."}
    return _model


@pytest.fixture(scope="session")
def gateway(host: Host, service: Service, _model: StubModel) -> Iterator[Gateway]:
    extra = {"tools": {"alsoAllow": ["longtail_search", "longtail_expand", "longtail_grep"]}}
    env = {"LONGTAIL_HOME": str(service.stack.home)}
    with Gateway(host, model_port=_model.port, extra=extra, env=env) as found:
        yield found


@pytest.fixture
def once() -> Callable[[Answer, Answer], Callable[[Prompt], Answer]]:
    """An answer for the first call, and one for all that follow."""

    def build(first: Answer, later: Answer) -> Callable[[Prompt], Answer]:
        answers = iter([first])
        return lambda _: next(answers, later)

    return build
