// Longtail for OpenClaw: the memory slot, the context engine, tools, commands and hooks, all of them translations.
import { join } from "node:path";

import { registerCommands } from "./cli.js";
import { Client } from "./client.js";
import { createEngine, Memory } from "./engine.js";
import { registerHooks } from "./hooks.js";
import { createMemoryCapability } from "./memory.js";
import { Outbox } from "./outbox.js";
import { Sessions } from "./sessions.js";
import { readSettings } from "./settings.js";
import { Spool } from "./spool.js";
import { createTools, TOOL_NAMES } from "./tools.js";

const memories = new Map(); // one for each configuration: the host registers a plugin several times in a process

/** What lives as long as the process, for these settings. */
export function openMemory(settings, logger) {
  const key = JSON.stringify(settings);
  if (!memories.has(key)) {
    const client = new Client(settings);
    const spool = new Spool(join(settings.stateDir, "spool"), { maxBytes: settings.spoolMegabytes * 1_000_000 });
    const outbox = new Outbox({ client, spool, settings, logger });
    const sessions = new Sessions(join(settings.stateDir, "sessions"));
    memories.set(key, new Memory({ settings, client, outbox, sessions, logger }));
  }
  return memories.get(key);
}

export default {
  id: "longtail",
  name: "Longtail",
  description: "Long-term memory: every turn is kept, and what matters comes back in the prompt.",
  register(api) {
    // The host has no runtime while it only asks which commands there are.
    const hostState = api.registrationMode === "cli-metadata" ? undefined : api.runtime?.state?.resolveStateDir?.();
    const settings = readSettings(api.pluginConfig, hostState);
    const memory = openMemory(settings, api.logger ?? console);
    api.registerContextEngine("longtail", () => createEngine(memory));
    api.registerMemoryCapability?.(createMemoryCapability(memory));
    api.registerTool?.((context) => createTools(memory, context), { names: TOOL_NAMES });
    api.registerCli?.(({ program }) => registerCommands(program, memory), {
      descriptors: [{ name: "longtail", description: "Look at and search Longtail's memory", hasSubcommands: true }],
    });
    registerHooks(api, memory);
  },
};
