// The context engine, for hosts that commit turns (2026.8 and later) and for those that call afterTurn or ingest.
//
// Nothing here throws but commitTurn, and that only when a turn could be kept neither by the API nor on disk: the host
// then keeps it itself. A method that throws would be taken out of service for the whole process.
import { compactSession } from "./compaction.js";
import { isHeartbeatExchange, strangeRoles, toTurns } from "./messages.js";
import { assemblePrompt } from "./prompt.js";
import { identityOf, isIgnored } from "./settings.js";
import { estimateMessages } from "./window.js";

const SESSIONS_REMEMBERED = 50;
const MAINTAIN_MS = 1000;

export const INFO = {
  id: "longtail",
  name: "Longtail",
  version: "0.1.0",
  ownsCompaction: true,
  transcriptSemantics: {
    currentTurnFence: "before-current-turn-entry-v1",
    turnAdvancementIdempotency: "atomic-idempotent-v1",
  },
};

/** What lives as long as the process: the host makes an engine for every operation. */
export class Memory {
  constructor({ settings, client, outbox, sessions, logger }) {
    Object.assign(this, { settings, client, outbox, sessions, logger });
    this.views = new Map(); // session → what the model was last shown, for compaction and for the next call of the turn
    this.children = new Set(); // session keys of sub-agents that run
  }

  remember(sessionId, view) {
    this.views.delete(sessionId);
    this.views.set(sessionId, view);
    if (this.views.size > SESSIONS_REMEMBERED) this.views.delete(this.views.keys().next().value);
  }

  isSilent(sessionKey) {
    return this.children.has(sessionKey) || isIgnored(this.settings, sessionKey);
  }
}

export function createEngine(memory) {
  const { settings, outbox, sessions } = memory;

  /** Hand the new messages of a session over; says whether there was anything to keep. */
  async function keep({ sessionId, sessionKey, messages, isHeartbeat, key }) {
    if (isHeartbeat || memory.isSilent(sessionKey) || isHeartbeatExchange(messages)) return "skipped";
    const strange = strangeRoles(messages);
    if (strange.length) memory.logger.warn?.(`longtail: messages of an unknown role are not kept: ${strange.join(", ").slice(0, 200)}`);
    const turns = toTurns(messages);
    if (!turns.length) return "skipped";
    return outbox.post({
      sessionId: sessions.idOf(sessionId),
      identity: identityOf(settings, { sessionKey }),
      key,
      turns,
    });
  }

  /** The older style has no outbox behind it: what cannot be kept is said in the log. */
  async function keepQuietly(given) {
    try {
      return await keep(given);
    } catch (error) {
      memory.logger.warn?.(`longtail: a turn is lost, ${error.message}`);
      return "lost";
    }
  }

  return {
    info: INFO,

    async bootstrap() {
      await outbox.flush({ deadlineMs: settings.assembleMs });
      return { bootstrapped: true };
    },

    async maintain() {
      await outbox.flush({ deadlineMs: MAINTAIN_MS }); // the reply waits for it
      return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
    },

    async commitTurn({ advancementKey, sessionId, sessionKey, messages, isHeartbeat }) {
      const outcome = await keep({ sessionId, sessionKey, messages, isHeartbeat, key: advancementKey });
      return { status: outcome === "duplicate" ? "duplicate" : "committed" };
    },

    async afterTurn({ sessionId, sessionKey, messages, prePromptMessageCount = 0, isHeartbeat }) {
      await keepQuietly({ sessionId, sessionKey, isHeartbeat, messages: (messages ?? []).slice(prePromptMessageCount) });
    },

    async ingestBatch({ sessionId, sessionKey, messages, isHeartbeat }) {
      const outcome = await keepQuietly({ sessionId, sessionKey, messages, isHeartbeat });
      return { ingestedCount: outcome === "skipped" || outcome === "lost" ? 0 : messages.length };
    },

    async ingest({ sessionId, sessionKey, message, isHeartbeat }) {
      const outcome = await keepQuietly({ sessionId, sessionKey, messages: [message], isHeartbeat });
      return { ingested: outcome !== "skipped" && outcome !== "lost" };
    },

    async assemble(given) {
      try {
        return await assemblePrompt(memory, given);
      } catch (error) {
        memory.logger.warn?.(`longtail: this prompt has no memory, ${error.message}`);
        const messages = given.messages ?? [];
        return { messages, estimatedTokens: estimateMessages(messages) };
      }
    },

    async compact(given) {
      try {
        return await compactSession(memory, given);
      } catch (error) {
        memory.logger.warn?.(`longtail: nothing was compacted, ${error.message}`);
        return { ok: true, compacted: false, reason: error.message };
      }
    },

    async prepareSubagentSpawn({ childSessionKey }) {
      memory.children.add(childSessionKey);
      return { rollback: () => void memory.children.delete(childSessionKey) };
    },

    async onSubagentEnded({ childSessionKey }) {
      memory.children.delete(childSessionKey);
    },

    async dispose() {
      // The connections, the spool and the views belong to the process, not to one operation.
    },
  };
}
