// What the user set, with defaults; where the API is and how to be let in.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const DEFAULTS = {
  scope: "agent",
  memoryTokens: 4000,
  assembleMs: 1500,
  commitMs: 2500,
  compactMs: 8000,
  ignoreSessions: ["*:cron:*", "*:subagent:*", "*:hook:*", "*:heartbeat*"],
  spoolMegabytes: 64,
};
const DEFAULT_PORT = "8765";

/** The plugin's configuration with defaults; `stateDir` of the host is where the spool goes unless it says otherwise. */
export function readSettings(config = {}, hostStateDir = undefined, env = process.env) {
  const host = hostStateDir ?? env.OPENCLAW_STATE_DIR ?? join(env.HOME ?? homedir(), ".openclaw");
  return {
    ...DEFAULTS,
    home: env.LONGTAIL_HOME ?? join(env.XDG_DATA_HOME ?? join(env.HOME ?? homedir(), ".local", "share"), "longtail"),
    stateDir: join(host, "longtail"),
    ...Object.fromEntries(Object.entries(config ?? {}).filter(([, value]) => value !== undefined && value !== "")),
  };
}

/** Address and token as they are now: a stack that was started again may listen elsewhere. */
export function findService(settings, env = process.env) {
  const url = settings.apiUrl ?? env.LONGTAIL_API_URL ?? readState(settings.home).api_url ?? defaultUrl(env);
  const token = settings.token ?? env.LONGTAIL_TOKEN ?? readText(join(settings.home, "token"));
  return { url: url.replace(/\/+$/, ""), token: token?.trim() };
}

/** The port that is set, else the usual one. None where any free port was asked for: what listens on ours is another's then. */
function defaultUrl(env) {
  const port = env.LONGTAIL_PORT || DEFAULT_PORT;
  return port === "0" ? "" : `http://${env.LONGTAIL_HOST || "127.0.0.1"}:${port}`;
}

function readState(home) {
  try {
    return JSON.parse(readText(join(home, "run", "state.json")) ?? "{}");
  } catch {
    return {}; // being written: the next call reads it whole
  }
}

function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // not there, or not ours to read: the API will say what is missing
  }
}

/** The agent that a session key names: 'agent:main:telegram:42' → 'main'. */
export function agentOf(sessionKey) {
  const [kind, agent] = (sessionKey ?? "").split(":");
  return kind === "agent" && agent ? agent : "main";
}

/** Whose memory a session reads and writes, as the API names it. */
export function identityOf(settings, { sessionKey, agentId } = {}) {
  const agent_id = agentId ?? agentOf(sessionKey);
  if (settings.userId) return { user_id: settings.userId, agent_id };
  if (settings.scope === "session" && sessionKey) return { session_key: sessionKey, agent_id };
  return { agent_id };
}

/** The namespace of an identity, as routes name it that take no identity (export, grep). */
export function namespaceOf({ user_id, session_key, agent_id }) {
  return user_id ?? (session_key ? `session-key:${session_key}` : `agent-id:${agent_id}`);
}

/** Whether a pattern of the settings names this session. */
export function isIgnored(settings, sessionKey) {
  if (!sessionKey) return false;
  return settings.ignoreSessions.some((pattern) => matches(pattern, sessionKey));
}

function matches(pattern, text) {
  const parts = pattern.split("*");
  if (parts.length === 1) return pattern === text;
  if (!text.startsWith(parts[0]) || !text.endsWith(parts.at(-1))) return false;
  let from = parts[0].length;
  const end = text.length - parts.at(-1).length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return from <= end;
}
