// What the plugin itself remembers of a session, on disk because hosts restart: how often it was reset, and where its
// history begins since the last compaction. One small file a session; losing one costs a longer prompt, no memory. What
// the disk does not take is remembered by the process: a full disk must not keep a prompt from being cut.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const KEPT = 500;

export class Sessions {
  constructor(folder) {
    this.folder = folder;
    this.unsaved = new Map();
  }

  pathOf(sessionId) {
    return join(this.folder, `${createHash("sha256").update(sessionId).digest("hex").slice(0, 32)}.json`);
  }

  /** {resets, firstKept?, summary?, shrinkTo?, clipTo?} */
  read(sessionId) {
    if (this.unsaved.has(sessionId)) return this.unsaved.get(sessionId);
    try {
      return { resets: 0, ...JSON.parse(readFileSync(this.pathOf(sessionId), "utf8")) };
    } catch {
      return { resets: 0 }; // never written, or broken: the session begins anew
    }
  }

  write(sessionId, state) {
    this.unsaved.delete(sessionId);
    try {
      this.save(sessionId, state);
    } catch {
      this.unsaved.set(sessionId, { ...state });
    }
  }

  save(sessionId, state) {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const path = this.pathOf(sessionId);
    const draft = `${path}.${process.pid}.tmp`;
    writeFileSync(draft, JSON.stringify({ sessionId, ...state }), { mode: 0o600 });
    renameSync(draft, path);
    this.prune();
  }

  prune() {
    const names = readdirSync(this.folder).filter((name) => name.endsWith(".json"));
    if (names.length <= KEPT) return;
    const aged = names.map((name) => [statSync(join(this.folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0, name]);
    for (const [, name] of aged.sort().slice(0, names.length - KEPT)) rmSync(join(this.folder, name), { force: true });
  }

  /** The API's session: a reset keeps the host's id, but the conversation before it is another one. */
  idOf(sessionId, state = this.read(sessionId)) {
    return state.resets ? `${sessionId}.${state.resets}` : sessionId;
  }

  /** The host begins a new conversation under the same id. */
  reset(sessionId) {
    this.write(sessionId, { resets: this.read(sessionId).resets + 1 });
  }
}
