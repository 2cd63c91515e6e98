"""Which traces are told, and that nothing of OpenTelemetry is touched where nobody asked for them."""

import subprocess
import sys
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.settings import Settings
from models.traces import find_root, is_drawn, open_traces


def test_a_share_of_ids_is_drawn_whatever_their_time() -> None:
    of_one_moment = [UUID(int=(0x0199A1F00000_7000 << 64) | (uuid4().int & (2**64 - 1))) for _ in range(4000)]
    drawn = sum(is_drawn(one, 0.25) for one in of_one_moment)
    assert 800 < drawn < 1200  # 1000 ± 7 standard deviations


@given(st.uuids(version=4), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_holds_all_that_a_smaller_one_holds(trace: UUID, one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert is_drawn(trace, large) or not is_drawn(trace, small)
    assert is_drawn(trace, 1.0)
    assert not is_drawn(trace, 0.0)


@given(st.uuids())
def test_the_first_span_has_a_valid_id_of_64_bits(trace: UUID) -> None:
    assert 0 < find_root(trace) < 2**64


def test_without_an_endpoint_or_a_share_there_are_no_traces() -> None:
    assert open_traces(None, share=1.0, service="x") is None
    assert open_traces("http://127.0.0.1:4318", share=0.0, service="x") is None


def test_what_sends_traces_is_not_imported_where_they_are_off() -> None:
    program = (
        "import sys; import api.app, workers.tasks, workers.traces; assert workers.traces.process_traces() is None; "
        "senders = ('opentelemetry.sdk.trace', 'opentelemetry.exporter', 'models.otlp'); "
        "found = [name for name in sys.modules if name.startswith(senders)]; "
        "sys.exit(str(found) if found else 0)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("address", ["127.0.0.1:4318", "grpc://127.0.0.1:4317", "http://"])
def test_an_address_that_is_no_otlp_over_http_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"http://127\.0\.0\.1:4318"):
        Settings(traces_endpoint=address)


def test_an_empty_endpoint_is_none() -> None:
    assert Settings(traces_endpoint="").traces_endpoint is None
