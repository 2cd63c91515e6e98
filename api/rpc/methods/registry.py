"""Every method by its name."""

from api.rpc.dispatcher import Method
from api.rpc.methods import documents, gate, health, namespaces, records, sessions

METHODS: dict[str, Method] = {
    method.name: method
    for family in (health, records, sessions, gate, documents, namespaces)
    for method in family.METHODS
}
