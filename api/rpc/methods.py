"""Every method by its name."""

from api.rpc import (
    document_methods,
    gate_methods,
    health_methods,
    namespace_methods,
    record_methods,
    session_methods,
)
from api.rpc.dispatcher import Method

METHODS: dict[str, Method] = {
    method.name: method
    for family in (
        health_methods,
        record_methods,
        session_methods,
        gate_methods,
        document_methods,
        namespace_methods,
    )
    for method in family.METHODS
}
