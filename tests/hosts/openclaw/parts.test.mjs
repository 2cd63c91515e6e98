// The plugin's parts by themselves: no host, no service.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Client, Refused, Unreachable } from "../../../hosts/openclaw/client.js";
import { limitText } from "../../../hosts/openclaw/compaction.js";
import { isHeartbeatExchange, recallMessage, splitText, toTurns, toVisible } from "../../../hosts/openclaw/messages.js";
import { Outbox, partition } from "../../../hosts/openclaw/outbox.js";
import { Sessions } from "../../../hosts/openclaw/sessions.js";
import { findService, identityOf, isIgnored, namespaceOf, readSettings } from "../../../hosts/openclaw/settings.js";
import { Spool, SpoolFull } from "../../../hosts/openclaw/spool.js";
import { clipHistory, clipMessages, cutToFit, estimateMessages, findClip, keyOf, outline, startAt } from "../../../hosts/openclaw/window.js";

const folder = () => mkdtempSync(join(tmpdir(), "longtail-parts-"));
const user = (content, timestamp) => ({ role: "user", content, timestamp });
const assistant = (text, timestamp, more = []) => ({ role: "assistant", content: [{ type: "text", text }, ...more], timestamp });
const quiet = { debug() {}, info() {}, warn() {} };

test("a turn of the host becomes turns with roles, words, times and ids that stay the same", () => {
  const messages = [
    user("Find it.", 1000),
    assistant("", 1001, [{ type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } }]),
    { role: "toolResult", toolCallId: "c1", toolName: "read", content: [{ type: "text", text: "found" }], timestamp: 1002 },
    assistant("Here.", 1003, [{ type: "thinking", thinking: "hidden" }]),
  ];
  assert.deepEqual(toTurns(messages), [
    { role: "user", content: "Find it.", id: "user:1000", ts: "1970-01-01T00:00:01.000Z" },
    { role: "assistant", content: '[calls read: {"path":"a"}]', id: "assistant:1001", ts: "1970-01-01T00:00:01.001Z" },
    { role: "tool", content: "found", id: "tool:1002:c1", ts: "1970-01-01T00:00:01.002Z", name: "read", metadata: { tool_call_id: "c1" } },
    { role: "assistant", content: "Here.", id: "assistant:1003", ts: "1970-01-01T00:00:01.003Z" },
  ]);
  assert.deepEqual(toVisible(messages).map((turn) => turn.id), toTurns(messages).map((turn) => turn.id));
});

test("what is injected for the model's eyes is no turn", () => {
  const messages = [recallMessage("secret recall"), { role: "custom", customType: "openclaw.runtime-context", content: "x" }, { role: "mystery", content: "y" }, user("  ", 1)];
  assert.deepEqual(toTurns(messages), []);
});

test("lone surrogates and NUL are replaced, times of a wrong clock are left out, two messages of one millisecond stay two", () => {
  const turns = toTurns([user("a\ud800b\0c", 5), user("again", 5), user("future", Date.now() + 10 * 86_400_000), user("no time")]);
  assert.equal(turns[0].content, "a\ufffdb\ufffdc");
  assert.equal(turns[1].id, "user:5#2");
  assert.equal(turns[2].ts, undefined);
  assert.equal(turns[3].id, undefined);
});

test("five megabytes of tool output are several turns, and not a character is lost", () => {
  const text = "é€😀x".repeat(500_000);
  const pieces = splitText(text);
  assert.ok(pieces.length > 1 && pieces.every((piece) => Buffer.byteLength(piece) <= 1_000_000));
  assert.equal(pieces.join(""), text);
});

test("the host's polls and acknowledgements are heartbeats, a conversation about them is none", () => {
  assert.ok(isHeartbeatExchange([user("[OpenClaw heartbeat poll]", 1), assistant("NO_REPLY", 2)]));
  assert.ok(isHeartbeatExchange([user("Read HEARTBEAT.md", 1), assistant("HEARTBEAT_OK", 2)]));
  assert.ok(isHeartbeatExchange([user("Read HEARTBEAT.md", 1), assistant("All is quiet. HEARTBEAT_OK", 2)]));
  assert.ok(!isHeartbeatExchange([user("What is HEARTBEAT_OK?", 1), assistant("The word HEARTBEAT_OK says that nothing is to be done.", 2)]));
  assert.ok(!isHeartbeatExchange([user("Hello", 1), assistant("Hi", 2)]));
});

test("patterns name sessions whose turns are not kept", () => {
  const settings = readSettings({}, "/x");
  for (const key of ["agent:main:cron:nightly", "agent:main:subagent:1-2", "agent:a:cron:x:run:y"]) assert.ok(isIgnored(settings, key), key);
  for (const key of ["agent:main:main", "agent:main:telegram:direct:7", undefined]) assert.ok(!isIgnored(settings, key), String(key));
  assert.ok(isIgnored({ ignoreSessions: ["agent:x:main"] }, "agent:x:main"));
  assert.ok(!isIgnored({ ignoreSessions: ["ab*ba"] }, "aba"));
});

test("memory belongs to the agent, to the conversation, or to a user, as it is set", () => {
  const given = { sessionKey: "agent:work:telegram:direct:7" };
  assert.equal(namespaceOf(identityOf({ scope: "agent" }, given)), "agent-id:work");
  assert.equal(namespaceOf(identityOf({ scope: "session" }, given)), "session-key:agent:work:telegram:direct:7");
  assert.equal(namespaceOf(identityOf({ scope: "agent", userId: "ann" }, given)), "ann");
});

test("address and token come from the settings, else the environment, else the running stack", () => {
  const home = folder();
  writeFileSync(join(home, "token"), "secret\n");
  assert.deepEqual(findService(readSettings({ home }), {}), { url: "http://127.0.0.1:8765", token: "secret" });
  assert.deepEqual(findService({ home, apiUrl: "http://a/", token: "t" }, { LONGTAIL_API_URL: "http://b" }), { url: "http://a", token: "t" });
  const empty = folder();
  assert.equal(findService({ home: empty }, {}).url, "http://127.0.0.1:8765");
  assert.equal(findService({ home: empty }, { LONGTAIL_PORT: "9999" }).url, "http://127.0.0.1:9999");
  assert.equal(findService({ home: empty }, { LONGTAIL_PORT: "0" }).url, "", "what listens on 8765 may be another's");
  assert.deepEqual(findService({ home }, { LONGTAIL_API_URL: "http://b", LONGTAIL_TOKEN: "e" }), { url: "http://b", token: "e" });
});

test("history is cut where a user speaks, the newest turn stays, and the beginning holds", () => {
  const turn = (n) => [user(`question ${n} ${"x".repeat(400)}`, n * 10), assistant("y".repeat(400), n * 10 + 1)];
  const messages = [1, 2, 3, 4].flatMap(turn);
  const one = estimateMessages(turn(1));
  const kept = cutToFit(messages, 2 * one);
  assert.deepEqual(kept, messages.slice(4));
  assert.deepEqual(cutToFit(messages, 1), messages.slice(6));
  assert.equal(cutToFit(messages, 100 * one), messages);
  assert.deepEqual(startAt([...messages, ...turn(5)], "user:30"), [...messages.slice(4), ...turn(5)]);
  assert.equal(startAt(messages, "user:999"), messages);
  assert.match(outline(messages), /^- question 1 x+…\n- question 2/);
});

test("a turn that is too large alone loses the middle of its long texts, keeps its shape, and is not touched itself", () => {
  const long = "The quay was wet. ".repeat(2000);
  const messages = [
    user("Read the log.", 1),
    assistant("", 2, [{ type: "toolCall", id: "c1", name: "write", arguments: { path: "a", content: long, lines: [1, long] } }]),
    { role: "toolResult", toolCallId: "c1", toolName: "write", content: [{ type: "text", text: long }, { type: "image", data: "x" }], timestamp: 3 },
  ];
  const before = structuredClone(messages);
  const clipped = clipMessages(messages, findClip(messages, 1000));
  assert.ok(estimateMessages(messages) > 20_000 && estimateMessages(clipped) <= 1000);
  assert.deepEqual(messages, before);
  assert.equal(clipped[0], messages[0]);
  assert.deepEqual(clipped[1].content[1].arguments.path, "a");
  assert.match(clipped[2].content[0].text, /^The quay was wet[^]*characters were left out[^]*wet\. $/);
  assert.deepEqual(clipped.map(keyOf), messages.map(keyOf));
  assert.equal(findClip(clipMessages(messages, 60), 10), undefined);
  assert.equal(findClip([], 10), undefined);
});

test("what is said after a compaction is whole", () => {
  const messages = [user("old ".repeat(500), 1), assistant("old ".repeat(500), 2), user("new ".repeat(500), 3)];
  const shown = clipHistory(messages, { clipTo: 100, clipUntil: keyOf(messages[1]) });
  assert.ok(estimateMessages(shown.slice(0, 2)) < 300);
  assert.equal(shown[2], messages[2]);
  assert.equal(clipHistory(messages, {}), messages);
});

test("a disk that takes nothing does not keep a prompt from being cut", () => {
  const file = join(folder(), "file");
  writeFileSync(file, "");
  const sessions = new Sessions(join(file, "below"));
  sessions.write("s", { resets: 1, firstKept: "user:1" });
  assert.equal(sessions.read("s").firstKept, "user:1");
  assert.equal(sessions.idOf("s"), "s.1");
});

test("a summary keeps to its share", () => {
  assert.equal(limitText("old line\nnew line", 2), "new line");
  assert.ok(limitText("x".repeat(1000), 10).length <= 16);
});

test("what waits on disk is private, whole, in order, and bounded", async () => {
  const path = join(folder(), "spool");
  const spool = new Spool(path, { maxBytes: 100 });
  for (const n of [1, 2, 3]) spool.append({ n });
  const [first] = spool.list();
  assert.equal(statSync(join(path, first)).mode & 0o777, 0o600);
  assert.throws(() => spool.append({ text: "x".repeat(100) }), SpoolFull);
  writeFileSync(join(path, "000-half.tmp"), '{"n": 0'); // a process was killed in the middle
  const seen = [];
  const done = await spool.flush(async ({ n }) => {
    if (n === 3) throw new Unreachable("away");
    seen.push(n);
  }).catch((error) => error);
  assert.ok(done instanceof Unreachable);
  assert.deepEqual(seen, [1, 2]);
  assert.deepEqual(await new Spool(path, { maxBytes: 100 }).flush(async ({ n }) => void seen.push(n)), { sent: 1, waiting: 0 });
  assert.deepEqual(seen, [1, 2, 3]);
});

test("a refused turn is set aside with its reason and does not hold up those behind it", async () => {
  const path = join(folder(), "spool");
  const spool = new Spool(path, { maxBytes: 10_000 });
  const said = [];
  const client = {
    async call(_method, _path, { body }) {
      if (body.turns[0].content === "bad") throw new Refused(422, { code: "empty_text", detail: "no" });
      said.push(body.turns[0].content);
      return { accepted: ["1"] };
    },
  };
  const outbox = new Outbox({ client, spool, settings: { commitMs: 100 }, logger: quiet });
  for (const content of ["one", "bad", "two"]) spool.append({ sessionId: "s", identity: {}, turns: [{ content }] });
  assert.equal((await outbox.flush()).waiting, 0);
  assert.deepEqual(said, ["one", "two"]);
  const [aside] = readdirSync(join(path, "refused"));
  assert.match(JSON.parse(readFileSync(join(path, "refused", aside), "utf8")).reason, /empty_text/);
});

test("who waits for the spool waits no longer than said, also while another sends", async () => {
  const spool = new Spool(join(folder(), "spool"), { maxBytes: 10_000 });
  spool.append({ sessionId: "s", identity: {}, turns: [{ content: "one" }] });
  let answer;
  const client = { call: () => new Promise((resolve) => (answer = () => resolve({ accepted: ["1"] }))) };
  const outbox = new Outbox({ client, spool, settings: { commitMs: 100 }, logger: quiet });
  const slow = outbox.flush({ deadlineMs: 60_000 });
  assert.equal((await outbox.flush({ deadlineMs: 20 })).waiting, 1);
  answer();
  assert.deepEqual(await slow, { sent: 1, waiting: 0 });
});

test("a kept connection that the service closed is no outage", async () => {
  let calls = 0;
  const server = http.createServer((_request, response) => {
    calls += 1;
    if (calls === 2) response.socket.destroy(); // closed just as it is used again
    else response.end("{}");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new Client({ apiUrl: `http://127.0.0.1:${server.address().port}`, token: "t" });
  await client.call("GET", "/");
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await client.call("GET", "/"), {});
  assert.equal(calls, 3);
  server.closeAllConnections();
  server.close();
});

test("large turns are sent in calls that the service takes", () => {
  const turns = Array.from({ length: 5 }, (_, index) => ({ content: "x".repeat(40), index }));
  assert.deepEqual(partition(turns, { count: 2, bytes: 1000 }).map((part) => part.length), [2, 2, 1]);
  assert.deepEqual(partition(turns, { count: 9, bytes: 130 }).map((part) => part.length), [2, 2, 1]);
});

test("a silent service is given up at the deadline, and not waited for again at once", async () => {
  const server = http.createServer(() => {}).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const client = new Client({ apiUrl: `http://127.0.0.1:${server.address().port}`, token: "t" });
  await assert.rejects(client.call("GET", "/", { deadlineMs: 50 }), Unreachable);
  await assert.rejects(client.call("GET", "/", { deadlineMs: 60_000 }), /a moment ago/);
  server.closeAllConnections();
  server.close();
});

test("a unix socket serves as well, and a problem document becomes a refusal", async () => {
  const path = join(folder(), "api.sock");
  const server = http.createServer((request, response) => {
    response.statusCode = request.url === "/ok" ? 200 : 422;
    response.end(JSON.stringify(request.url === "/ok" ? { token: request.headers.authorization } : { code: "bad", detail: "why" }));
  });
  await new Promise((resolve) => server.listen(path, resolve));
  chmodSync(path, 0o600);
  const client = new Client({ apiUrl: `unix:${path}`, token: "t" });
  assert.deepEqual(await client.call("GET", "/ok"), { token: "Bearer t" });
  await assert.rejects(client.call("GET", "/no"), (error) => error instanceof Refused && error.code === "bad" && error.message === "why");
  server.closeAllConnections();
  server.close();
});

test("a reset begins another conversation under the same id", () => {
  const sessions = new Sessions(folder());
  sessions.write("a/b", { resets: 0, summary: "old", firstKept: "user:1" });
  assert.equal(sessions.idOf("a/b"), "a/b");
  sessions.reset("a/b");
  assert.equal(sessions.idOf("a/b"), "a/b.1");
  assert.equal(sessions.read("a/b").summary, undefined);
});
