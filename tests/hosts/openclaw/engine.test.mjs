// The engine against a real service, called as hosts before 2026.8 call it. LONGTAIL_HOME says where the service is.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openMemory } from "../../../hosts/openclaw/index.js";
import { createEngine } from "../../../hosts/openclaw/engine.js";
import { createSearchManager } from "../../../hosts/openclaw/memory.js";
import { sessionPath } from "../../../hosts/openclaw/client.js";
import { readSettings } from "../../../hosts/openclaw/settings.js";

const quiet = { debug() {}, info() {}, warn() {} };
let clock = Date.now() - 1_000_000;
const user = (content) => ({ role: "user", content, timestamp: (clock += 1000) });
const assistant = (text, more = []) => ({ role: "assistant", content: [{ type: "text", text }, ...more], timestamp: (clock += 1000) });

function open(config = {}, logger = quiet) {
  const settings = readSettings({ stateDir: mkdtempSync(join(tmpdir(), "longtail-engine-")), assembleMs: 30_000, commitMs: 30_000, compactMs: 60_000, ...config });
  const memory = openMemory(settings, logger);
  return { memory, engine: () => createEngine(memory) }; // a new engine for each operation, as the host makes them
}

async function turnsOf(memory, sessionId) {
  return (await memory.client.call("GET", `${sessionPath(sessionId, "turns")}?limit=1000`)).turns;
}

async function settle(memory) {
  for (let round = 0; round < 6000; round += 1) {
    if (!(await memory.client.call("GET", "/v1/status")).pending) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail("the workers did not finish in ten minutes");
}

test("afterTurn, repeated for every tool call and again at the end, keeps each message once and in order", async () => {
  const { memory, engine } = open({ userId: "old-style" });
  const place = { sessionId: "old/one two", sessionKey: "agent:main:old" };
  const messages = [user("The lighthouse keeper is called Amadou.")];
  assert.deepEqual(await engine().bootstrap(place), { bootstrapped: true });
  messages.push(assistant("", [{ type: "toolCall", id: "t1", name: "look", arguments: {} }]));
  messages.push({ role: "toolResult", toolCallId: "t1", toolName: "look", content: [{ type: "text", text: "fog" }], timestamp: (clock += 1000) });
  await engine().afterTurn({ ...place, messages, prePromptMessageCount: 0 });
  messages.push(assistant("Noted."));
  await engine().afterTurn({ ...place, messages, prePromptMessageCount: 0 });
  await engine().afterTurn({ ...place, messages, prePromptMessageCount: 3 });
  const kept = await turnsOf(memory, place.sessionId);
  assert.deepEqual(kept.map((turn) => [turn.role, turn.content]), [
    ["user", "The lighthouse keeper is called Amadou."],
    ["assistant", "[calls look: {}]"],
    ["tool", "fog"],
    ["assistant", "Noted."],
  ]);
});

test("ingestBatch and ingest keep messages too, and say how many", async () => {
  const { memory, engine } = open({ userId: "old-batch" });
  const place = { sessionId: "old-batch", sessionKey: "agent:main:old" };
  const batch = [user("I sail on Sundays."), assistant("Good.")];
  assert.deepEqual(await engine().ingestBatch({ ...place, messages: batch }), { ingestedCount: 2 });
  assert.deepEqual(await engine().ingest({ ...place, message: user("And I row on Mondays.") }), { ingested: true });
  assert.deepEqual(await engine().ingest({ ...place, message: user("From now on always row."), isHeartbeat: true }), { ingested: false });
  assert.deepEqual((await turnsOf(memory, "old-batch")).map((turn) => turn.content), ["I sail on Sundays.", "Good.", "And I row on Mondays."]);
});

test("a fact of an earlier session stands before the newest message, and the given messages are not touched", async () => {
  const { memory, engine } = open({ userId: "old-recall" });
  await engine().afterTurn({ sessionId: "r1", messages: [user("My sister Tamsin repairs accordions in Leeds."), assistant("Nice.")], prePromptMessageCount: 0 });
  await settle(memory);
  const messages = [user("Hello."), assistant("Hello."), user("What does my sister Tamsin repair?")];
  const before = structuredClone(messages);
  const result = await engine().assemble({ sessionId: "r2", messages, tokenBudget: 20_000 });
  assert.deepEqual(messages, before);
  assert.equal(result.messages.length, 4);
  assert.match(result.messages[2].content, /accordions/);
  assert.equal(result.messages[3], messages[2]);
  // The next model call of the turn, after a tool, has the same memory at the same place.
  const more = [...result.messages, assistant("", [{ type: "toolCall", id: "x", name: "n", arguments: {} }]), { role: "toolResult", toolCallId: "x", content: "ok", timestamp: (clock += 1000) }];
  const again = await engine().assemble({ sessionId: "r2", messages: more, tokenBudget: 20_000 });
  assert.deepEqual(again.messages.slice(0, 4), result.messages);
  assert.equal(again.messages.length, 6);
});

test("commitTurn is idempotent on its key, and says so", async () => {
  const { memory, engine } = open({ userId: "new-style" });
  const given = { advancementKey: "k1", sessionId: "n1", sessionKey: "agent:main:n", messages: [user("One."), assistant("Two.")] };
  assert.deepEqual(await engine().commitTurn(given), { status: "committed" });
  assert.deepEqual(await engine().commitTurn(given), { status: "duplicate" });
  assert.equal((await turnsOf(memory, "n1")).length, 2);
});

test("with the service away turns wait on disk, also for the next process, and arrive once and in order", async () => {
  const away = open({ userId: "spooled", apiUrl: "http://127.0.0.1:9" });
  const place = { sessionId: "sp", sessionKey: "agent:main:sp" };
  const turns = [1, 2, 3].map((n) => [user(`Spooled question ${n}.`), assistant(`Spooled answer ${n}.`)]);
  assert.deepEqual(await away.engine().commitTurn({ ...place, advancementKey: "s1", messages: turns[0] }), { status: "committed" });
  await away.engine().afterTurn({ ...place, messages: turns[1], prePromptMessageCount: 0 });
  const shown = await away.engine().assemble({ ...place, messages: turns[0], prompt: "What?", tokenBudget: 10_000 });
  assert.deepEqual(shown.messages, turns[0]);
  assert.equal(away.memory.outbox.spool.list().length, 2);

  const back = open({ userId: "spooled", stateDir: away.memory.settings.stateDir });
  await back.engine().commitTurn({ ...place, advancementKey: "s3", messages: turns[2] });
  await back.engine().maintain(place);
  assert.ok(back.memory.outbox.spool.isEmpty);
  const kept = (await turnsOf(back.memory, "sp")).map((turn) => turn.content);
  assert.deepEqual(kept, turns.flat().map((message) => (typeof message.content === "string" ? message.content : message.content[0].text)));
});

test("commitTurn throws when a turn can be kept nowhere, so that the host keeps it", async () => {
  const { memory, engine } = open({ apiUrl: "http://127.0.0.1:9" });
  memory.outbox.spool.maxBytes = 10;
  const given = { sessionId: "full", messages: [user("One."), assistant("Two.")] };
  await assert.rejects(engine().commitTurn({ ...given, advancementKey: "f" }), /spoolMegabytes/);
  await engine().afterTurn({ ...given, prePromptMessageCount: 0 }); // the older style has nobody to tell
});

test("compact never throws, cuts at once with or without the service, and cuts deeper each time", async () => {
  for (const config of [{ userId: "compact" }, { userId: "compact", apiUrl: "http://127.0.0.1:9" }]) {
    const { engine } = open(config);
    const sessionId = `c-${clock}`;
    const messages = Array.from({ length: 8 }, (_, n) => [user(`Question ${n}. ${"The tide tables of Brest are long. ".repeat(20)}`), assistant("It is so. ".repeat(60))]).flat();
    await engine().afterTurn({ sessionId, messages, prePromptMessageCount: 0 });
    const first = await engine().assemble({ sessionId, messages, prompt: "And?", tokenBudget: 20_000 });
    let last = first.messages.filter((message) => message.role !== "custom").length;
    for (const round of [1, 2]) {
      const done = await engine().compact({ sessionId, sessionKey: "k", tokenBudget: 20_000, currentTokenCount: 25_000, force: true, compactionTarget: "budget" });
      assert.equal(done.compacted, true, `${round}: ${done.reason}`);
      assert.ok(done.result.tokensAfter < done.result.tokensBefore);
      assert.ok(done.result.summary.length > 0);
      const next = await engine().assemble({ sessionId, messages, prompt: "And?", tokenBudget: 20_000 });
      const shown = next.messages.filter((message) => message.role !== "custom");
      assert.ok(shown.length < last);
      assert.equal(shown[0].role, "user");
      assert.ok(next.systemPromptAddition.includes(done.result.summary));
      last = shown.length;
    }
    for (let round = 0; round < 5; round += 1) await engine().compact({ sessionId, sessionKey: "k", tokenBudget: 20_000, force: true });
    const end = await engine().compact({ sessionId, sessionKey: "k", tokenBudget: 20_000, force: true });
    assert.deepEqual([end.ok, end.compacted, end.reason], [true, false, "only the newest turn is left"]);
  }
});

test("a transcript over its budget shrinks at once, also when one turn is all of it and no prompt was made before", async () => {
  const large = (n) => ({ role: "toolResult", toolCallId: `t${n}`, toolName: "read", content: [{ type: "text", text: `Log ${n}. ${"The nets were grey and the quay was wet. ".repeat(300)}` }], timestamp: (clock += 1000) });
  const messages = [user("Read all the logs."), assistant("", [1, 2, 3, 4].map((n) => ({ type: "toolCall", id: `t${n}`, name: "read", arguments: {} }))), ...[1, 2, 3, 4].map(large), assistant("Read.")];
  const sizeOf = async (engine, sessionId) => (await engine().assemble({ sessionId, messages, prompt: "And?", tokenBudget: 8000 })).estimatedTokens;
  for (const apiUrl of [undefined, "http://127.0.0.1:9"]) {
    const { engine } = open({ userId: "over", ...(apiUrl && { apiUrl }) });
    let last = await sizeOf(engine, "over");
    assert.ok(last > 8000);
    for (const round of [1, 2, 3]) {
      const done = await engine().compact({ sessionId: "over", tokenBudget: 8000, currentTokenCount: 8001, force: true, compactionTarget: "budget" });
      assert.equal(done.compacted, true, `${round}: ${done.reason}`);
      const size = await sizeOf(engine, "over");
      assert.ok(size < last, `${round}: ${size} after ${last}`);
      last = size;
    }
    assert.ok(last < 2000);
    // A host that was started again asks before it ever showed us the transcript.
    const fresh = open({ userId: "over", ...(apiUrl && { apiUrl }) });
    const done = await fresh.engine().compact({ sessionId: "again", tokenBudget: 8000, currentTokenCount: 12_000 });
    assert.equal(done.compacted, true);
    assert.ok((await sizeOf(fresh.engine, "again")) < 8000);
  }
});

test("turns too large for the room of memory are cut, and what was said before them is still recalled", async () => {
  const { memory, engine } = open({ userId: "large" });
  const large = (n) => [user(`Log ${n}. ${"The compressor of line four was oiled again. ".repeat(150)}`), assistant("Read. ".repeat(20))];
  const messages = [user("The password of the greenhouse is quetzal."), assistant("Noted."), ...[1, 2, 3, 4, 5].flatMap(large)];
  await engine().afterTurn({ sessionId: "large", messages, prePromptMessageCount: 0 });
  await settle(memory);
  await engine().assemble({ sessionId: "large", messages, prompt: "And?", tokenBudget: 16_000 });
  await engine().compact({ sessionId: "large", sessionKey: "k", tokenBudget: 16_000, currentTokenCount: 20_000, force: true });
  await engine().compact({ sessionId: "large", sessionKey: "k", tokenBudget: 16_000, currentTokenCount: 20_000, force: true });
  const result = await engine().assemble({ sessionId: "large", messages, prompt: "What is the password of the greenhouse?", tokenBudget: 16_000 });
  assert.ok(result.messages.length < messages.length);
  assert.match(result.messages.at(-1).content, /quetzal/);
  assert.ok(result.estimatedTokens < 8000);
});

test("a history larger than the prompt is cut before the model sees it, and its beginning holds while it grows", async () => {
  const { engine } = open({ userId: "window" });
  const messages = [];
  const starts = new Set();
  for (let n = 0; n < 40; n += 1) {
    messages.push(user(`Question ${n}. ${"x ".repeat(400)}`), assistant("y ".repeat(400)));
    const result = await engine().assemble({ sessionId: "w", messages, prompt: "And?", tokenBudget: 8000 });
    assert.ok(result.estimatedTokens <= 8000);
    starts.add(result.messages.find((message) => message.role === "user").timestamp);
  }
  assert.ok(starts.size < 10, `the beginning moved ${starts.size} times in 40 turns`);
});

test("the host's own search finds what was said, reads it, and is empty without the service", async () => {
  const { memory, engine } = open({ userId: "searcher" });
  await engine().afterTurn({ sessionId: "se", messages: [user("The spare key hangs behind the barometer."), assistant("Good to know.")], prePromptMessageCount: 0 });
  await settle(memory);
  const manager = createSearchManager(memory, "main");
  const [hit] = await manager.search("where is the spare key?", { maxResults: 3 });
  assert.match(hit.snippet, /barometer/);
  assert.ok(hit.score > 0 && hit.startLine === 1 && ["memory", "sessions"].includes(hit.source));
  assert.deepEqual((await manager.readFile({ relPath: hit.path })).text, hit.snippet);
  assert.equal((await manager.readFile({ relPath: "longtail/turn/none" })).status, "not_found");
  assert.deepEqual(await manager.probeEmbeddingAvailability().then(({ ok }) => ok), true);
  const away = createSearchManager(open({ apiUrl: "http://127.0.0.1:9" }).memory, "main");
  assert.deepEqual(await away.search("anything"), []);
  assert.equal(away.status().provider, "longtail");
  assert.equal((await away.probeEmbeddingAvailability()).ok, false);
});

test("what a sub-agent says is not kept, and its end is noticed", async () => {
  const { memory, engine } = open({ userId: "parent", ignoreSessions: [] });
  const child = "agent:main:some-child";
  const { rollback } = await engine().prepareSubagentSpawn({ parentSessionKey: "agent:main:main", childSessionKey: child });
  const given = { sessionId: "child", sessionKey: child, messages: [user("Chatter."), assistant("More chatter.")], prePromptMessageCount: 0 };
  await engine().afterTurn(given);
  await assert.rejects(turnsOf(memory, "child"));
  await engine().onSubagentEnded({ childSessionKey: child, reason: "completed" });
  rollback();
  await engine().afterTurn(given);
  assert.equal((await turnsOf(memory, "child")).length, 2);
});

test("a host that repeats, reorders, edits, has a wrong clock and sends odd messages loses nothing and doubles nothing", async () => {
  const said = [];
  const { memory, engine } = open({ userId: "odd" }, { ...quiet, warn: (line) => said.push(line) });
  const place = { sessionId: "team/ann/2026 08?x=1#y", sessionKey: "agent:main:odd" };
  const hour = 3_600_000;
  const first = { ...user("half a smile: \ud83d, a NUL: \0"), timestamp: Date.now() - hour };
  const second = { ...assistant("two"), timestamp: Date.now() + hour };
  const output = Array.from({ length: 1250 }, (_, line) => `line ${line}${" ".repeat(4000)}\n`).join(""); // 5 MB, few words
  const tool = { role: "toolResult", toolCallId: "t1", toolName: "read", content: [{ type: "text", text: output }], timestamp: (clock += 1000) };
  const send = (...messages) => engine().ingestBatch({ ...place, messages });

  await send(second);
  await send(first); // out of order
  await send(first, second); // again
  await send({ ...first, content: "edited" });
  await send({ role: "wizard", content: "abracadabra", timestamp: (clock += 1000) });
  await send(tool);
  await send(tool);

  const kept = await turnsOf(memory, place.sessionId);
  assert.deepEqual(kept.slice(0, 2).map((turn) => [turn.role, turn.content]), [
    ["assistant", "two"],
    ["user", "half a smile: \ufffd, a NUL: \ufffd"],
  ]);
  assert.equal(new Date(kept[0].ts).getTime(), second.timestamp, "a clock an hour off is taken at its word");
  assert.ok(kept.length > 3 && kept.slice(2).every((turn) => turn.role === "tool"));
  assert.equal(kept.slice(2).map((turn) => turn.content).join(""), output);
  assert.equal(memory.outbox.spool.describe().refused, 0);
  assert.equal(said.length, 2, said.join("\n"));
  assert.match(said[0], /1 messages were edited .* the first words stay/);
  assert.match(said[1], /unknown role .* wizard/);
});
