// Which part of the host's history the model sees: the newest turns that fit, cut where a user speaks.
import { createHash } from "node:crypto";

import { idOf, textOf } from "./messages.js";

const MESSAGE_TOKENS = 8; // role, separators
const IMAGE_TOKENS = 1500;
const CJK = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const DENSE = /[\u0400-\u04ff\u0590-\u05ff\u0600-\u06ff]/;

/** What a text costs, by the rule of the API's `chars` counter. */
export function estimateText(text) {
  const chars = CJK.test(text) ? 1.6 : DENSE.test(text) ? 2.5 : 4;
  return Math.ceil(text.length / chars);
}

export function estimateMessage(message) {
  const images = Array.isArray(message.content) ? message.content.filter((block) => block?.type === "image").length : 0;
  return MESSAGE_TOKENS + estimateText(textOf(message)) + images * IMAGE_TOKENS;
}

export function estimateMessages(messages) {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0);
}

/** What a message is known by from one prompt to the next: its id, else its words. */
export function keyOf(message) {
  return idOf(message) ?? createHash("sha256").update(`${message.role} ${textOf(message)}`).digest("hex");
}

/** Messages from the first one that a compaction kept; all of them when it is not among them. */
export function startAt(messages, firstKept) {
  if (!firstKept) return messages;
  const index = messages.findIndex((message) => keyOf(message) === firstKept);
  return index > 0 ? messages.slice(index) : messages;
}

/**
 * The longest suffix of whole turns within `limit` tokens; the newest turn stays in any case.
 * A turn begins where a user speaks, so that no tool call is parted from its result.
 */
export function cutToFit(messages, limit) {
  const starts = messages.flatMap((message, index) => (message.role === "user" ? [index] : []));
  if (starts.length < 2) return messages;
  let kept = starts.at(-1);
  let cost = estimateMessages(messages.slice(kept));
  for (const start of starts.slice(0, -1).reverse()) {
    cost += estimateMessages(messages.slice(start, kept));
    if (cost > limit) break;
    kept = start;
  }
  return kept === starts[0] ? messages : messages.slice(kept);
}

/** The first words of what users said in messages that are set aside: what a summary is made of when no other is to be had. */
export function outline(messages, { lines = 20, chars = 160 } = {}) {
  const said = messages.filter((message) => message.role === "user").map((message) => textOf(message).trim().replace(/\s+/g, " "));
  const kept = said.filter(Boolean).slice(-lines);
  return kept.map((text) => `- ${text.length > chars ? `${text.slice(0, chars).toWellFormed()}…` : text}`).join("\n");
}
