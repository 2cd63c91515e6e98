// HTTP to the API: loopback or a unix socket, a deadline on every call, and two kinds of failure.
//
//   MemoryError
//   ├── Unreachable   away, slow, busy, or the token is wrong: worth another try later
//   └── Refused       the API read the request and will never take it; `code` and `detail` say why
import http from "node:http";
import https from "node:https";

import { findService } from "./settings.js";

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const REST_MS = 3000; // after a call that timed out, nobody waits for the same silence again at once
const REFUSALS = new Set([400, 404, 405, 409, 413, 415, 422]);

export class MemoryError extends Error {}
export class Unreachable extends MemoryError {}
export class Refused extends MemoryError {
  constructor(status, problem) {
    super(problem.detail ?? `the API answered ${status}`);
    this.status = status;
    this.code = problem.code ?? String(status);
    this.field = problem.field;
  }
}

export class Client {
  constructor(settings, find = findService) {
    this.settings = settings;
    this.find = find;
    this.restUntil = 0;
    this.agents = {
      "http:": new http.Agent({ keepAlive: true, maxSockets: 8 }),
      "https:": new https.Agent({ keepAlive: true, maxSockets: 8 }),
    };
  }

  /** The answer's JSON. Throws Unreachable or Refused, never later than `deadlineMs` from now. */
  async call(method, path, { body, deadlineMs = 5000, raw = false, signal } = {}) {
    if (Date.now() < this.restUntil) throw new Unreachable("Longtail did not answer a moment ago");
    const { status, text } = await this.sendFresh(method, path, { body, deadlineMs, signal });
    if (status >= 200 && status < 300) return raw ? text : text ? JSON.parse(text) : {};
    const problem = parseProblem(text);
    if (REFUSALS.has(status)) throw new Refused(status, problem);
    throw new Unreachable(`Longtail answered ${status}: ${problem.detail ?? "no reason given"}`);
  }

  /** A kept connection may be closed by the other side just as it is used again: such a call is made once more. */
  async sendFresh(method, path, options) {
    try {
      return await this.send(method, path, options);
    } catch (error) {
      if (!error.isStale) throw error;
      return this.send(method, path, options);
    }
  }

  send(method, path, { body, deadlineMs, signal }) {
    const { url, token } = this.find(this.settings);
    if (!url) throw new Unreachable("no Longtail runs, and LONGTAIL_PORT=0 names no port to look at");
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = { accept: "application/json" };
    if (token) headers.authorization = `Bearer ${token}`;
    if (payload) Object.assign(headers, { "content-type": "application/json", "content-length": payload.length });
    const where = url.startsWith("unix:")
      ? { protocol: "http:", socketPath: url.slice("unix:".length), path }
      : locate(url, path);
    return new Promise((resolve, reject) => {
      const fail = (error) => reject(error instanceof MemoryError ? error : new Unreachable(`no Longtail at ${url}: ${error.message}`));
      let request;
      try {
        const transport = where.protocol === "https:" ? https : http;
        request = transport.request({ ...where, method, headers, agent: this.agents[where.protocol] });
      } catch (error) {
        fail(error);
        return;
      }
      const timer = setTimeout(() => {
        this.restUntil = Date.now() + REST_MS;
        request.destroy(new Unreachable(`Longtail did not answer within ${deadlineMs} ms`));
      }, deadlineMs);
      const stop = () => request.destroy(new Unreachable("the host no longer waits for the answer"));
      signal?.addEventListener("abort", stop, { once: true });
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
      };
      request.on("error", (error) => {
        done();
        const isStale = request.reusedSocket && error.code === "ECONNRESET";
        fail(isStale ? Object.assign(new Unreachable(error.message), { isStale }) : error);
      });
      request.on("response", (response) => {
        const chunks = [];
        let size = 0;
        response.on("data", (chunk) => {
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES) request.destroy(new Unreachable("the answer is too large"));
          else chunks.push(chunk);
        });
        response.on("error", (error) => {
          done();
          fail(error);
        });
        response.on("end", () => {
          done();
          resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString("utf8") });
        });
      });
      request.end(payload);
    });
  }
}

function locate(url, path) {
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return { protocol, host, port: port || undefined, path: pathname.replace(/\/$/, "") + path };
}

function parseProblem(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {}; // a proxy's page, not our document
  }
}

/** The path of a session's resource: an id may hold slashes, blanks, anything. */
export function sessionPath(sessionId, resource) {
  return `/v1/sessions/${encodeURIComponent(sessionId)}/${resource}`;
}
