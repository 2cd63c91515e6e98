// Every turn reaches the API once and in order: at once where it answers, else from disk when it is back.
//
// A context engine that throws from commitTurn keeps the turn in the host's own outbox, but the host then runs the
// following turns without the engine and never hands them over. So a turn is taken whenever it is on our disk.
import { Refused, sessionPath } from "./client.js";

const TURNS_PER_CALL = 500; // the API takes 1000 (LONGTAIL_MAX_TURNS_PER_CALL)
const BYTES_PER_CALL = 8_000_000; // and 16 MiB (LONGTAIL_MAX_BODY_BYTES)
const PERMANENT = new Set([400, 409, 413, 415, 422]);
const RETRY_MS = [2_000, 5_000, 15_000, 30_000];

export class Outbox {
  constructor({ client, spool, settings, logger }) {
    Object.assign(this, { client, spool, settings, logger });
    this.failures = 0;
    this.timer = undefined;
  }

  /** Hand turns over. Returns "sent", "duplicate", "spooled" or "refused"; throws SpoolFull when there is no room for them. */
  async post({ sessionId, identity, key, turns }) {
    const entry = { sessionId, identity, key, turns };
    if (this.spool.isEmpty) {
      try {
        const outcome = await this.deliver(entry, this.settings.commitMs);
        if (!refusalOf(outcome)) return outcome;
        this.spool.setAside(entry, refusalOf(outcome));
        return "refused";
      } catch (error) {
        this.logger.debug?.(`longtail: ${error.message}; the turn waits on disk`);
      }
    }
    this.spool.append(entry);
    this.retryLater();
    return "spooled";
  }

  /** Send what waits; never throws. */
  async flush({ deadlineMs = this.settings.commitMs } = {}) {
    const until = Date.now() + deadlineMs;
    try {
      const running = this.spool.flush((entry) => this.redeliver(entry, Math.max(50, until - Date.now())), { until });
      const done = await inTime(running, deadlineMs); // another caller may have begun it, with more time
      if (done.sent) this.logger.info?.(`longtail: ${done.sent} turns that had waited on disk are kept`);
      this.failures = 0;
      return done;
    } catch (error) {
      this.failures += 1;
      return { sent: 0, waiting: this.spool.list().length, error: error.message };
    } finally {
      if (!this.spool.isEmpty) this.retryLater();
    }
  }

  retryLater() {
    if (this.timer) return;
    const pause = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)];
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.flush({ deadlineMs: 20_000 });
    }, pause);
    this.timer.unref?.();
  }

  async redeliver(entry, deadlineMs) {
    return { refused: refusalOf(await this.deliver(entry, deadlineMs)) };
  }

  // "sent", "duplicate", or {refused: why}: a turn that will never be taken must not hold up those behind it.
  async deliver({ sessionId, identity, key, turns }, deadlineMs) {
    const until = Date.now() + deadlineMs;
    let accepted = 0;
    for (const [index, part] of partition(turns).entries()) {
      const body = { ...identity, turns: part };
      if (key) body.idempotency_key = index ? `${key}/${index + 1}` : key;
      try {
        const answer = await this.client.call("POST", sessionPath(sessionId, "turns"), {
          body,
          deadlineMs: Math.max(50, until - Date.now()),
        });
        accepted += answer.accepted?.length ?? 0;
        const edited = (answer.duplicates ?? []).filter((one) => one.content_differs).length;
        if (edited) this.logger.warn?.(`longtail: ${edited} messages were edited after they were kept; the first words stay`);
      } catch (error) {
        if (!(error instanceof Refused && PERMANENT.has(error.status))) throw error;
        const reason = `${error.code}: ${error.message}`;
        this.logger.warn?.(`longtail: a turn was refused, ${reason}`);
        return { refused: reason };
      }
    }
    return accepted ? "sent" : "duplicate";
  }
}

/** What a promise gives, or an error when that takes longer than `ms`; the work itself goes on. */
async function inTime(promise, ms) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("not everything was sent in time")), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function refusalOf(outcome) {
  return typeof outcome === "object" ? outcome.refused : undefined;
}

/** Calls that each fit the API's limits. */
export function partition(turns, { count = TURNS_PER_CALL, bytes = BYTES_PER_CALL } = {}) {
  const parts = [];
  let size = 0;
  for (const turn of turns) {
    const cost = Buffer.byteLength(JSON.stringify(turn));
    const last = parts.at(-1);
    if (!last || last.length >= count || size + cost > bytes) {
      parts.push([turn]);
      size = cost;
    } else {
      last.push(turn);
      size += cost;
    }
  }
  return parts;
}
