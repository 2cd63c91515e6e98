// Turns that wait on disk while the API is away: one file each, named in the order they came.
//
// A file is written beside, synced, and renamed: after a crash it is there whole or not at all. Several processes may
// write; one at a time sends. Sending twice is harmless, the API knows the turns by their ids.
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

const LOCK_STALE_MS = 60_000;
const REFUSED_KEPT = 100;

export class SpoolFull extends Error {}

export class Spool {
  constructor(folder, { maxBytes }) {
    this.folder = folder;
    this.refused = join(folder, "refused");
    this.maxBytes = maxBytes;
    this.count = 0;
    this.flushing = undefined;
  }

  /** Files that wait, oldest first. */
  list() {
    try {
      return readdirSync(this.folder).filter((name) => name.endsWith(".json")).sort();
    } catch (error) {
      if (error.code === "ENOENT") return [];
      throw error;
    }
  }

  get isEmpty() {
    return this.list().length === 0;
  }

  /** What waits, and what the API would not take. */
  describe() {
    const waiting = this.list();
    let refused = [];
    try {
      refused = readdirSync(this.refused);
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    return { folder: this.folder, waiting: waiting.length, bytes: this.sizeOf(waiting), refused: refused.length };
  }

  sizeOf(names) {
    return names.reduce((sum, name) => sum + (statSync(join(this.folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
  }

  /** Keep an entry until it is sent; on disk for good when this returns. */
  append(entry) {
    const data = Buffer.from(JSON.stringify(entry));
    const used = this.sizeOf(this.list());
    if (used + data.length > this.maxBytes)
      throw new SpoolFull(`${used} bytes wait in ${this.folder}, ${this.maxBytes} may; start Longtail or raise spoolMegabytes`);
    this.write(this.folder, data);
  }

  write(folder, data) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.count += 1;
    const time = String(Date.now()).padStart(15, "0");
    const name = `${time}-${String(this.count).padStart(6, "0")}-${process.pid}`;
    const draft = join(folder, `${name}.tmp`);
    const file = openSync(draft, "wx", 0o600);
    try {
      writeSync(file, data);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, join(folder, `${name}.json`));
    const directory = openSync(folder, "r");
    try {
      fsyncSync(directory);
    } finally {
      closeSync(directory);
    }
  }

  /**
   * Send what waits, in order, until `send` fails or the time is up. `send` returns when the entry is kept by the
   * API, returns {refused: reason} when it never will be, and throws when it should be tried again.
   */
  flush(send, { until = Infinity } = {}) {
    this.flushing ??= this.flushNow(send, until).finally(() => {
      this.flushing = undefined;
    });
    return this.flushing;
  }

  async flushNow(send, until) {
    let sent = 0;
    if (this.isEmpty || !this.lock()) return { sent, waiting: this.list().length };
    try {
      for (const name of this.list()) {
        if (Date.now() >= until) break;
        const entry = this.read(name);
        if (entry === undefined) continue;
        const outcome = await send(entry);
        if (outcome?.refused) this.setAside(entry, outcome.refused);
        rmSync(join(this.folder, name), { force: true });
        sent += 1;
      }
    } finally {
      rmSync(join(this.folder, "lock"), { recursive: true, force: true });
    }
    return { sent, waiting: this.list().length };
  }

  read(name) {
    try {
      return JSON.parse(readFileSync(join(this.folder, name), "utf8"));
    } catch (error) {
      if (error.code === "ENOENT") return undefined; // another process sent it
      renameSync(join(this.folder, name), join(this.folder, `${name}.broken`));
      return undefined;
    }
  }

  /** Keep what the API will never take where a person can find it; the newest hundred. */
  setAside(entry, reason) {
    this.write(this.refused, Buffer.from(JSON.stringify({ reason, ...entry })));
    const kept = readdirSync(this.refused).filter((name) => name.endsWith(".json")).sort();
    for (const name of kept.slice(0, -REFUSED_KEPT)) rmSync(join(this.refused, name), { force: true });
  }

  lock() {
    const folder = join(this.folder, "lock");
    try {
      mkdirSync(folder, { mode: 0o700 });
      return true;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const found = statSync(folder, { throwIfNoEntry: false });
    if (!found || Date.now() - found.mtimeMs < LOCK_STALE_MS) return false;
    rmSync(folder, { recursive: true, force: true }); // its owner died
    return false;
  }
}
