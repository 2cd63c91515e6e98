// `openclaw longtail …`: what a person asks of the memory.
import { createWriteStream } from "node:fs";

import { MemoryError } from "./client.js";
import { findService, identityOf, namespaceOf } from "./settings.js";

const CLI_MS = 10_000;
const EXPORT_MS = 600_000;

export function registerCommands(program, memory, write = (text) => process.stdout.write(`${text}\n`)) {
  const { client, outbox, settings } = memory;
  const root = program.command("longtail").description("Look at and search Longtail's memory");
  const ask = (method, path, options) => client.call(method, path, { deadlineMs: CLI_MS, ...options });

  const command = (spec, description, run) =>
    root
      .command(spec)
      .description(description)
      .option("--agent <id>", "whose memory", "main")
      .option("--json", "for programs")
      .action(async (...given) => {
        const options = given.at(-2);
        try {
          await run(options, ...given.slice(0, -2));
        } catch (error) {
          if (!(error instanceof MemoryError)) throw error;
          process.stderr.write(`longtail: ${error.message}\n`);
          process.exitCode = 1;
        }
      });

  command("status", "Whether Longtail answers, and what waits for it", async ({ json }) => {
    const { url } = findService(settings);
    const spool = outbox.spool.describe();
    let service;
    let error;
    try {
      service = await ask("GET", "/v1/status?counts=true");
    } catch (failure) {
      if (!(failure instanceof MemoryError)) throw failure;
      error = failure.message;
      process.exitCode = 1;
    }
    if (json) return write(JSON.stringify({ url, healthy: !error, error, service, spool }, null, 2));
    write(error ? `Longtail does not answer: ${error}` : `Longtail ${service.version} at ${url}`);
    if (service) {
      for (const [name, count] of Object.entries(service.counts ?? {})) write(`  ${name}: ${count}`);
      write(`  pending: ${service.pending}, ${service.lag_seconds} s behind`);
    }
    write(`  waiting on disk: ${spool.waiting} (${spool.bytes} bytes), refused: ${spool.refused}, in ${spool.folder}`);
  });

  command("search <query>", "Search memory by meaning and by words", async ({ agent, json, limit }, query) => {
    const body = { query, k: Number(limit) || 10, ...identityOf(settings, { agentId: agent }) };
    const { results } = await ask("POST", "/v1/search", { body });
    if (json) return write(JSON.stringify(results, null, 2));
    for (const hit of results) write(`${hit.score.toFixed(3)}  ${hit.kind}  ${hit.ts}  ${hit.text.replace(/\s+/g, " ").slice(0, 300)}`);
    if (!results.length) write("nothing was found");
  }).option("-n, --limit <count>", "how many", "10");

  command("export", "Everything this agent's memory holds, as lines of JSON", async ({ agent, output }) => {
    const namespace = namespaceOf(identityOf(settings, { agentId: agent }));
    const text = await ask("GET", `/v1/export?namespace=${encodeURIComponent(namespace)}`, { raw: true, deadlineMs: EXPORT_MS });
    if (!output) return write(text.trimEnd());
    await new Promise((resolve, reject) => {
      createWriteStream(output, { mode: 0o600 }).on("error", reject).on("finish", resolve).end(text);
    });
    write(`${text.trimEnd().split("\n").length} lines in ${output}`);
  }).option("-o, --output <file>", "where to; default: the terminal");

  command("journal", "What happened to conversations: resets, ends, compactions", async ({ json, limit }) => {
    const { entries } = await ask("GET", `/v1/journal?limit=${Number(limit) || 20}`);
    if (json) return write(JSON.stringify(entries, null, 2));
    for (const entry of entries) write(`${entry.recorded_at}  ${entry.event}  ${entry.session_id}  ${entry.reason ?? ""}`);
    if (!entries.length) write("the journal is empty");
  }).option("-n, --limit <count>", "how many", "20");

  command("flush", "Send what waits on disk now", async ({ json }) => {
    const done = await outbox.flush({ deadlineMs: 60_000 });
    if (json) write(JSON.stringify(done));
    else write(`${done.sent} sent, ${done.waiting} wait${done.error ? `: ${done.error}` : ""}`);
    if (done.waiting) process.exitCode = 1;
  });
}
