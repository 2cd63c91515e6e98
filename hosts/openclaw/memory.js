// The memory slot: how the host's own search asks Longtail.
import { MemoryError } from "./client.js";
import { toolHint } from "./prompt.js";
import { identityOf } from "./settings.js";

const HITS_REMEMBERED = 500;
const SEARCH_MS = 4000;
const FROM_CONVERSATION = new Set(["turn", "summary"]);

export function createMemoryCapability(memory) {
  const managers = new Map();
  const managerOf = (agentId) => {
    if (!managers.has(agentId)) managers.set(agentId, createSearchManager(memory, agentId));
    return managers.get(agentId);
  };
  return {
    promptBuilder: ({ availableTools }) => [toolHint(availableTools)].filter(Boolean),
    deterministicRecallToolName: "longtail_search",
    runtime: {
      getMemorySearchManager: async ({ agentId }) => ({ manager: managerOf(agentId), debug: { backend: "builtin" } }),
      resolveMemoryBackendConfig: () => ({ backend: "builtin", citations: "auto" }),
      // A search is bound to the caller's own memory: whatever it found is the caller's to see.
      authorizeSearchHits: async ({ hits }) => hits,
      closeMemorySearchManager: async ({ agentId }) => void managers.delete(agentId),
      closeAllMemorySearchManagers: async () => managers.clear(),
    },
  };
}

/** What one agent's searches look like to the host: results are files of one item each. */
export function createSearchManager(memory, agentId) {
  const { client, settings, outbox } = memory;
  const read = new Map(); // path → text of what was found
  let probe;

  async function checkService() {
    try {
      const status = await client.call("GET", "/v1/status", { deadlineMs: 2000 });
      probe = { ok: Boolean(status.encoder_fingerprint ?? status.encoder), checked: true, checkedAtMs: Date.now() };
    } catch (error) {
      probe = { ok: false, error: error.message, checked: true, checkedAtMs: Date.now() };
    }
    return probe;
  }

  return {
    async search(query, { maxResults = 10, minScore = 0, sessionKey, sources, signal } = {}) {
      const found = await search(memory, { query, k: maxResults, sessionKey, agentId, signal });
      const results = found.map((hit) => toResult(hit, read)).filter((result) => result.score >= minScore);
      while (read.size > HITS_REMEMBERED) read.delete(read.keys().next().value);
      return sources ? results.filter((result) => sources.includes(result.source)) : results;
    },

    async readFile({ relPath, from = 1, lines }) {
      const text = read.get(relPath);
      if (text === undefined) return { status: "not_found", text: "", path: relPath };
      const all = text.split("\n");
      const slice = all.slice(from - 1, lines === undefined ? undefined : from - 1 + lines);
      const next = from + slice.length;
      return {
        status: "ok",
        text: slice.join("\n"),
        path: relPath,
        from,
        lines: slice.length,
        truncated: next <= all.length,
        ...(next <= all.length && { nextFrom: next }),
      };
    },

    status() {
      const waiting = outbox.spool.list().length;
      return {
        backend: "builtin",
        provider: "longtail",
        model: "longtail",
        dirty: waiting > 0,
        sources: ["memory", "sessions"],
        fts: { enabled: true, available: true },
        vector: { enabled: true, available: probe?.ok ?? true, semanticAvailable: probe?.ok ?? true },
        custom: { agentId, waiting, scope: settings.userId ? "user" : settings.scope },
      };
    },

    sync: async () => void (await outbox.flush()),
    getCachedEmbeddingAvailability: () => probe ?? null,
    probeEmbeddingAvailability: checkService,
    probeVectorAvailability: async () => (await checkService()).ok,
    probeVectorStoreAvailability: async () => (await checkService()).ok,
    close: async () => read.clear(),
  };
}

/** Ranked hits of the caller's memory; none when the API is away. */
export async function search(memory, { query, k, sessionKey, agentId, signal, ...filters }) {
  if (!query?.trim()) return [];
  try {
    const answer = await memory.client.call("POST", "/v1/search", {
      deadlineMs: SEARCH_MS,
      signal,
      body: {
        query: query.toWellFormed(),
        k: Math.min(Math.max(1, k ?? 10), 200),
        ...filters,
        ...identityOf(memory.settings, { sessionKey, agentId }),
      },
    });
    return answer.results;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    memory.logger.debug?.(`longtail: no search, ${error.message}`);
    return [];
  }
}

function toResult(hit, read) {
  const path = `longtail/${hit.kind}/${hit.id}`;
  read.delete(path);
  read.set(path, hit.text);
  return {
    path,
    startLine: 1,
    endLine: hit.text.split("\n").length,
    score: hit.score,
    ...(hit.similarity !== null && hit.similarity !== undefined && { vectorScore: hit.similarity }),
    snippet: hit.text,
    source: FROM_CONVERSATION.has(hit.kind) ? "sessions" : "memory",
    citation: `${path} (${hit.ts})`,
  };
}
