"""The API keeps what its OpenAPI document says: schemathesis with every check; `make api-fuzz` is the long run."""

from typing import Any

import httpx

from bench.fuzz import fuzz_once


def test_no_request_is_answered_otherwise_than_the_document_says(tenant: Any) -> None:
    run = fuzz_once(tenant.client.url, tenant.token, examples=3, seed=20261117, phases="coverage,fuzzing")
    assert run.is_clean, run.words
    assert run.requests > 1000
    tenant.settle()  # what was accepted is worked off before others need the workers


def test_every_write_names_its_idempotency_key_and_every_route_its_refusals(tenant: Any) -> None:
    document = httpx.get(tenant.client.url + "/openapi.json").json()
    reads = {*("/v1/assemble", "/v1/search", "/v1/grep", "/v1/import"), "/v1/assemblies/{assembly_id}/replay"}
    for path, operations in document["paths"].items():
        if not path.startswith("/v1/"):
            continue
        for method, operation in operations.items():
            assert {"401", "403", "404", "405", "409", "413", "422", "429", "503"} <= set(
                operation["responses"]
            ), path
            named = {parameter["name"].lower() for parameter in operation.get("parameters", ())}
            holds_a_token = path.startswith("/v1/tokens")  # such an answer is never kept
            if method != "get" and path not in reads and not holds_a_token:
                assert "idempotency-key" in named, (method, path)
