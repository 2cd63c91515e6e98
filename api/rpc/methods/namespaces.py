"""export_memory and flush_namespace: a user's durable memory as a whole."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from api.access.decisions import check_namespace
from api.dreams.service import name_dreams
from api.memories.direct import name_collection
from api.rpc.collections import Namespace
from api.rpc.dispatcher import Call, Method, Params
from api.rpc.search import show
from models.errors import InvalidInput
from models.store.collections.records import delete_collection
from models.store.collections.views import Scope, list_entries
from models.store.engine import tenant_transaction
from models.store.memory.forgetting import forget_memory
from models.store.memory.memories import list_memories

PREFIX = "user:"
FORGOTTEN_PER_TRANSACTION = 200


class NamespaceParams(Params):
    user_id: Namespace | None = Field(default=None, alias="userId")
    namespace: Namespace | None = None

    def find(self) -> str | None:
        """The namespace meant, with or without the name of its collection."""
        return self.namespace.removeprefix(PREFIX) if self.namespace else self.user_id


def export_memory(call: Call, params: NamespaceParams) -> Mapping[str, Any]:
    """Durable memories of a user, or of everybody the token opens."""
    namespace = params.find() or call.caller.namespace
    if namespace is not None:
        check_namespace(call.caller, namespace)
    most = call.runtime.settings.rpc_max_records
    with call.runtime.transaction(call.caller) as connection:
        scope = Scope(collection=f"{PREFIX}{namespace or ''}", view="memories", namespace=namespace)
        found = list_entries(connection, tenant_id=call.caller.tenant_id, scope=scope, count=most + 1)
    records = []
    for entry in found[-most:]:
        shown = show(entry, scope)
        collection = name_collection(str(entry.metadata["userId"]))
        metadata = {**shown["metadata"], "collection": collection}
        records.append({"collection": collection, "id": entry.id, "text": entry.body, "metadata": metadata})
    return {"records": records} | ({"truncated": True} if len(found) > most else {})


def flush_namespace(call: Call, params: NamespaceParams) -> Mapping[str, Any]:
    """Forget every durable memory of a user, and the dreams; what was said stays in the raw record."""
    namespace = params.find()
    if not namespace:
        raise InvalidInput("flush_namespace names nobody", field="userId", remedy="send userId or namespace")
    check_namespace(call.caller, namespace)
    tenant_id = call.caller.tenant_id
    forgotten = 0
    while True:
        with tenant_transaction(call.runtime.engine, call.caller) as connection:
            page = list_memories(
                connection, tenant_id=tenant_id, namespace=namespace, count=FORGOTTEN_PER_TRANSACTION
            )
            for memory in page:
                forget_memory(
                    connection, tenant_id=tenant_id, memory_id=memory.id, reason=f"flushed {namespace}"
                )
        forgotten += len(page)
        if len(page) < FORGOTTEN_PER_TRANSACTION:
            break
    with tenant_transaction(call.runtime.engine, call.caller) as connection:
        dreams = delete_collection(connection, tenant_id=tenant_id, collection=name_dreams(namespace))
    return {"ok": True, "forgotten": forgotten, "dreams": dreams}


METHODS = (
    Method(name="export_memory", params=NamespaceParams, scope="read", run=export_memory),
    Method(name="flush_namespace", params=NamespaceParams, scope="write", run=flush_namespace),
)
