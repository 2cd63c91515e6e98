// compact(): the history that the model sees gets shorter at once; the API's summaries stand for what is set aside.
//
// The host asks when a prompt did not fit, and blocks the session if nothing was done: so the cut never waits for the API,
// each further call cuts deeper, and where only the newest turn is left, long texts in it lose their middle.
import { sessionPath } from "./client.js";
import { clipHistory, clipMessages, cutToFit, estimateMessages, estimateText, findClip, keyOf, outline } from "./window.js";

const TARGET = { budget: 0.4, threshold: 0.3 }; // of the token budget
const LEFT = { budget: 1 / 2, threshold: 1 / 3 }; // of the history, at most
const SUMMARY_SHARE = 0.03; // of the token budget, for the words that stand for the rest
const MAX_SUMMARIES = 12;

export async function compactSession(memory, { sessionId, sessionKey, tokenBudget, currentTokenCount, compactionTarget, force, abortSignal }) {
  const { sessions, settings } = memory;
  const view = memory.views.get(sessionId);
  const budget = tokenBudget ?? view?.budget ?? 100_000;
  const aim = compactionTarget === "threshold" ? "threshold" : "budget";
  const target = Math.floor(TARGET[aim] * budget);
  const state = sessions.read(sessionId);
  const until = Date.now() + settings.compactMs;

  const isOver = (currentTokenCount ?? (view ? estimateMessages(clipHistory(view.shown, state)) : 0)) > budget;
  const cut = view ? cutView(view.shown, state, { target, share: LEFT[aim], isOver, force }) : undefined;
  if (cut && !cut.kept) return { ok: true, compacted: false, reason: cut.reason };

  const written = await summarize(memory, { sessionId, state, until, signal: abortSignal });
  if (!view && !force && !isOver && !written.didCompact) return { ok: true, compacted: false, reason: "nothing is old enough to be summarized" };
  const summary = limitText(written.text || joinOutlines(state.summary, outline(cut?.aside ?? [])), SUMMARY_SHARE * budget);

  if (cut) {
    sessions.write(sessionId, { resets: state.resets, summary, firstKept: keyOf(cut.kept[0]), ...cut.clip });
    memory.remember(sessionId, { ...view, turn: undefined, shown: cut.kept });
  } else {
    // No prompt of this session was made since the host started: the next one is cut when it is made.
    sessions.write(sessionId, { ...state, summary, shrinkTo: target });
  }
  const tokensBefore = Math.max(currentTokenCount ?? 0, cut?.before ?? 0);
  const tokensAfter = cut ? cut.after + estimateText(summary) : target;
  return {
    ok: true,
    compacted: true,
    reason: written.reason,
    result: { summary, tokensBefore: Math.max(tokensBefore, tokensAfter + 1), tokensAfter, ...(cut && { firstKeptEntryId: keyOf(cut.kept[0]) }) },
  };
}

/** The shorter history, or why there is none; `kept` is whole, `clip` says what of it is shown. */
function cutView(whole, state, { target, share, isOver, force }) {
  const shown = clipHistory(whole, state);
  const before = estimateMessages(shown);
  if (!force && !isOver && before <= target) return { reason: "the conversation is short already" };
  // Asked again, or counted otherwise by the model: a share of what is there, whatever we think it costs.
  const limit = Math.min(target, Math.floor(before * share));
  const left = cutToFit(shown, limit);
  const kept = whole.slice(whole.length - left.length);
  const aside = whole.slice(0, whole.length - left.length);
  const isSmall = !isOver || estimateMessages(left) <= limit;
  const clipTo = isSmall ? undefined : findClip(left, limit);
  if (clipTo !== undefined) {
    const after = estimateMessages(clipMessages(left, clipTo));
    return { kept, aside, before, after, clip: { clipTo, clipUntil: keyOf(kept.at(-1)) } };
  }
  if (!aside.length) return { reason: "only the newest turn is left" };
  const { clipTo: earlier, clipUntil } = state;
  return { kept, aside, before, after: estimateMessages(left), clip: earlier ? { clipTo: earlier, clipUntil } : {} };
}

/** The API's summaries of what is older than its tail; nothing when it is away or slow. */
async function summarize({ client, sessions, outbox, logger }, { sessionId, state, until, signal }) {
  const id = sessions.idOf(sessionId, state);
  const left = () => Math.max(50, until - Date.now());
  try {
    if (!outbox.spool.isEmpty) await outbox.flush({ deadlineMs: left() / 3 });
    const done = await client.call("POST", sessionPath(id, "compact"), { body: { wait: true, force: true }, deadlineMs: left() * 0.6, signal });
    const texts = await readSummaries(client, id, left, signal);
    return { didCompact: done.did_compact, text: texts.join("\n"), reason: done.reason ?? undefined };
  } catch (error) {
    logger.debug?.(`longtail: no summary, ${error.message}`);
    return { didCompact: false, text: "", reason: undefined };
  }
}

/** Texts of the summaries that cover a session, oldest first. */
async function readSummaries(client, id, left, signal) {
  const ids = new Set();
  let cursor;
  do {
    const query = cursor === undefined ? "limit=1000" : `limit=1000&cursor=${encodeURIComponent(cursor)}`;
    const page = await client.call("GET", `${sessionPath(id, "turns")}?${query}`, { deadlineMs: left(), signal });
    for (const turn of page.turns) if (turn.summary_id) ids.add(turn.summary_id);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && ids.size < 1000);
  const wanted = [...ids].slice(-MAX_SUMMARIES);
  const found = await Promise.all(wanted.map((one) => client.call("GET", `/v1/summaries/${one}`, { deadlineMs: left(), signal })));
  return found.map((summary) => summary.text);
}

function joinOutlines(earlier, added) {
  return [earlier, added].filter(Boolean).join("\n");
}

/** The newest part of a text that costs at most `tokens`, whole lines. */
export function limitText(text, tokens) {
  const lines = text.split("\n");
  while (lines.length > 1 && estimateText(lines.join("\n")) > tokens) lines.shift();
  const rest = lines.join("\n");
  return estimateText(rest) <= tokens ? rest : rest.slice(-Math.max(0, Math.floor(tokens * 1.6))).toWellFormed();
}
