// Which part of the host's history the model sees: the newest turns that fit, cut where a user speaks; and where even
// the newest is too large, long texts in it with their middle left out.
import { createHash } from "node:crypto";

import { idOf, textOf } from "./messages.js";

const MESSAGE_TOKENS = 8; // role, separators
const IMAGE_TOKENS = 1500;
const SMALLEST_CLIP = 60; // tokens of a message that is cut
const CLIP_NOTE_CHARS = 80;
const CJK = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const DENSE = /[\u0400-\u04ff\u0590-\u05ff\u0600-\u06ff]/;

/** What a text costs, by the rule of the API's `chars` counter. */
export function estimateText(text) {
  const chars = CJK.test(text) ? 1.6 : DENSE.test(text) ? 2.5 : 4;
  return Math.ceil(text.length / chars);
}

export function estimateMessage(message) {
  if (!Array.isArray(message.content)) return MESSAGE_TOKENS + estimateText(textOf(message));
  return message.content.reduce((sum, block) => sum + estimateBlock(block), MESSAGE_TOKENS);
}

function estimateBlock(block) {
  if (block?.type === "image") return IMAGE_TOKENS;
  if (block?.type === "toolCall") return estimateText(JSON.stringify([block.name, block.arguments ?? {}]));
  if (block?.type === "thinking") return estimateText(block.thinking ?? "");
  return estimateText(textOf({ content: [block] }));
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

/**
 * The messages with every text of more than `limit` tokens cut in its middle, images named instead of shown. Calls of
 * tools keep their shape, and the raw record has every word.
 */
export function clipMessages(messages, limit) {
  return messages.map((message) => (estimateMessage(message) > limit ? { ...message, content: clipContent(message.content, limit) } : message));
}

/** The history as the last compaction left it: messages up to the one it saw last are clipped, later ones are whole. */
export function clipHistory(messages, { clipTo, clipUntil } = {}) {
  if (!clipTo) return messages;
  const count = messages.findLastIndex((message) => keyOf(message) === clipUntil) + 1;
  return [...clipMessages(messages.slice(0, count), clipTo), ...messages.slice(count)];
}

/**
 * A limit for single messages with which all of them cost at most `target`: the largest power of a half of the longest;
 * the smallest there is when none does; undefined when nothing is left to be cut.
 */
export function findClip(messages, target) {
  const longest = Math.max(0, ...messages.map(estimateMessage));
  for (let limit = longest / 2; limit >= SMALLEST_CLIP; limit /= 2) {
    if (estimateMessages(clipMessages(messages, limit)) <= target) return Math.floor(limit);
  }
  return longest > 2 * SMALLEST_CLIP ? SMALLEST_CLIP : undefined;
}

function clipContent(content, limit) {
  if (typeof content === "string") return clipText(content, limit);
  if (!Array.isArray(content)) return content;
  const share = limit / content.length;
  return content.map((block) => {
    if (typeof block === "string") return clipText(block, share);
    if (block?.type === "text") return { ...block, text: clipText(block.text ?? "", share) };
    if (block?.type === "toolCall") return { ...block, arguments: clipValue(block.arguments, share) };
    return block?.type === "image" ? { type: "text", text: "[an image was left out]" } : block;
  });
}

function clipValue(value, limit) {
  if (typeof value === "string") return clipText(value, limit);
  if (Array.isArray(value)) return value.map((one) => clipValue(one, limit));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, clipValue(one, limit)]));
}

function clipText(text, limit) {
  if (estimateText(text) <= limit) return text;
  const chars = Math.max(40, Math.floor((text.length * limit) / estimateText(text)) - CLIP_NOTE_CHARS);
  const head = text.slice(0, Math.ceil(chars * 0.7)).toWellFormed();
  const end = text.slice(text.length - Math.floor(chars * 0.3)).toWellFormed();
  return `${head}\n[… ${text.length - chars} characters were left out; longtail_grep finds them …]\n${end}`;
}
