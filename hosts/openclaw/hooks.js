// Lifecycle hooks: hints for the journal, and the end of a conversation under an id that goes on.
const HINT_MS = 1000;
const FRESH = new Set(["new", "reset", "idle", "daily"]); // reasons after which the next turn begins a conversation

export function registerHooks(api, memory) {
  const { client, sessions, outbox, logger } = memory;

  async function hint(event, sessionId, reason, metadata) {
    if (!sessionId) return;
    const body = { event, session_id: sessions.idOf(sessionId), metadata };
    if (reason) body.reason = String(reason).toWellFormed().slice(0, 2000);
    try {
      await client.call("POST", "/v1/lifecycle", { body, deadlineMs: HINT_MS });
    } catch (error) {
      logger.debug?.(`longtail: the hint ${event} is not kept, ${error.message}`);
    }
  }

  const guard = (run) => async (event, context) => {
    try {
      await run(event ?? {}, context ?? {});
    } catch (error) {
      logger.warn?.(`longtail: a lifecycle hook failed, ${error.message}`);
    }
  };

  api.on(
    "before_reset",
    guard((event, { sessionId, sessionKey }) => hint("before_reset", sessionId, event.reason, { sessionKey, messages: event.messages?.length ?? 0 })),
  );
  api.on(
    "session_end",
    guard(async ({ sessionId, sessionKey, reason, messageCount, nextSessionId }) => {
      await hint("session_end", sessionId, reason, { sessionKey, messages: messageCount ?? 0 });
      if (nextSessionId === sessionId && FRESH.has(reason)) {
        sessions.reset(sessionId);
        memory.views.delete(sessionId);
      }
    }),
  );
  api.on(
    "before_compaction",
    guard((_event, { sessionId, sessionKey }) => hint("before_compaction", sessionId, undefined, { sessionKey })),
  );
  for (const name of ["gateway_start", "gateway_stop", "session_start"]) {
    api.on(name, guard(() => outbox.flush()));
  }
}
