// The host's messages as the API's turns: roles, words, stable ids; nothing is decided here about what is remembered.
const ROLES = { user: "user", assistant: "assistant", toolResult: "tool", tool: "tool", system: "system" };
const HOST_ROLES = new Set(["custom", "bashExecution", "branchSummary", "compactionSummary"]); // the host's own, no turns
const MAX_TURN_BYTES = 1_000_000; // the API takes 1 MiB a turn (LONGTAIL_MAX_TURN_BYTES)
const MAX_ARGUMENT_CHARS = 2000;
const MAX_VISIBLE = 10_000; // as many the API reads
const MAX_VISIBLE_CHARS = 4000;
const DAY_MS = 86_400_000;
const HEARTBEAT_MARK = "[OpenClaw heartbeat poll]";
const HEARTBEAT_ACK = "HEARTBEAT_OK";
const HEARTBEAT_ACK_CHARS = 300; // what may stand beside the mark, as the host counts it

/** The custom message that carries recall; it is in no transcript, and stripped wherever it comes back. */
export const RECALL_TYPE = "longtail.recall";

export function recallMessage(text) {
  return { role: "custom", customType: RECALL_TYPE, content: text, display: false, timestamp: 0 };
}

/** What the conversation holds, without what this plugin or the host put in for the model's eyes. */
export function conversationOf(messages) {
  return (messages ?? []).filter((message) => message && ROLES[message.role] !== undefined);
}

/** Roles that neither we nor the host's own code know; such messages are not kept, and that is said. */
export function strangeRoles(messages) {
  const roles = (messages ?? []).filter(Boolean).map(({ role }) => String(role));
  return [...new Set(roles)].filter((role) => ROLES[role] === undefined && !HOST_ROLES.has(role));
}

/** The words of a message: its text, and the tools it calls. */
export function textOf(message) {
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(textOfBlock).filter(Boolean).join("\n");
}

function textOfBlock(block) {
  if (typeof block === "string") return block;
  if (block?.type === "text") return block.text ?? "";
  if (block?.type === "toolCall") {
    const given = JSON.stringify(block.arguments ?? {});
    return `[calls ${block.name}: ${given.slice(0, MAX_ARGUMENT_CHARS)}]`;
  }
  return block?.type === "image" ? "[image]" : "";
}

/** The host's id of a message, the same whenever it is shown or committed; undefined where the host tells no time. */
export function idOf(message) {
  if (typeof message.id === "string" && message.id) return message.id;
  if (!Number.isFinite(message.timestamp)) return undefined;
  const call = message.toolCallId ? `:${message.toolCallId}` : "";
  return `${ROLES[message.role]}:${message.timestamp}${call}`.slice(0, 500);
}

/** Turns as POST …/turns takes them; empty messages are left out, large ones are several turns. */
export function toTurns(messages, now = Date.now()) {
  const seen = new Map();
  return conversationOf(messages).flatMap((message) => {
    const text = clean(textOf(message));
    if (!text.trim()) return [];
    const pieces = splitText(text);
    const id = distinct(idOf(message), seen);
    return pieces.map((content, index) => ({
      role: ROLES[message.role],
      content,
      ...(id && { id: index ? `${id}/${index + 1}` : id }),
      ...timeOf(message, now),
      ...(message.toolName && { name: clean(message.toolName).slice(0, 500) }),
      ...(message.toolCallId && { metadata: { tool_call_id: clean(message.toolCallId).slice(0, 500) } }),
    }));
  });
}

/** Messages that the model sees anyway, as POST /v1/assemble takes them; of one with an id, the first words will do. */
export function toVisible(messages) {
  return toTurns(messages)
    .slice(-MAX_VISIBLE)
    .map(({ role, content, id }) => (id ? { role, content: content.slice(0, MAX_VISIBLE_CHARS).toWellFormed(), id } : { role, content }));
}

// Two messages of one millisecond are two messages.
function distinct(id, seen) {
  if (id === undefined) return undefined;
  const count = (seen.get(id) ?? 0) + 1;
  seen.set(id, count);
  return count > 1 ? `${id}#${count}` : id;
}

function clean(text) {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

function timeOf({ timestamp }, now) {
  const isTime = Number.isFinite(timestamp) && timestamp > 0 && timestamp < now + DAY_MS / 2;
  return isTime ? { ts: new Date(timestamp).toISOString() } : {};
}

/** Pieces of at most MAX_TURN_BYTES, cut between characters. */
export function splitText(text, limit = MAX_TURN_BYTES) {
  if (text.length * 3 <= limit) return [text];
  const bytes = Buffer.from(text);
  const pieces = [];
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(start + limit, bytes.length);
    while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end -= 1; // not inside a character
    pieces.push(bytes.toString("utf8", start, end));
    start = end;
  }
  return pieces.filter((piece) => piece.trim());
}

/** Whether a turn is the host talking to itself: its poll, or an acknowledgement that nothing is to be said. */
export function isHeartbeatExchange(messages) {
  const spoken = conversationOf(messages).filter((message) => textOf(message).trim());
  if (spoken.some((message) => message.role === "user" && textOf(message).trimStart().startsWith(HEARTBEAT_MARK)))
    return true;
  const answer = spoken.filter((message) => message.role === "assistant").at(-1);
  if (!answer) return false;
  const said = textOf(answer).trim();
  const isMarked = said.startsWith(HEARTBEAT_ACK) || said.endsWith(HEARTBEAT_ACK);
  return isMarked && said.length - HEARTBEAT_ACK.length <= HEARTBEAT_ACK_CHARS;
}
