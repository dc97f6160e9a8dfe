import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exactJson, parseExactly } from "../../documents/exact-json.ts";
import { maxHeldBytes, type Recorded, type TraceDocument, type TraceReader, tooLong } from "../../layout.ts";

/** How much JSON of spans is held in memory; what is more lies in a temporary file. */
const defaultHeldBytes = 4 * 1024 * 1024;
const firstHeldBytes = 64 * 1024;

interface SpanLimits {
  heldBytes?: number;
  /** Of the spans of one trace. */
  traceBytes?: number;
}

/** What is kept of a span. */
export interface Kept {
  /** By which the spans of a trace are sorted. */
  start: string;
}

export const byStart = (one: Kept, other: Kept) =>
  one.start < other.start ? -1 : one.start > other.start ? 1 : 0;

/** The spans of a file, until all of it is read: those of one trace may stand anywhere in it. */
export interface SpanCollector<Item extends Kept> {
  /** Keeps a span as JSON, with those that share one of its keys. False if that makes them too long: then none of them is kept. */
  add(keys: readonly string[], item: Item): boolean;
  /** The spans that belong together, sorted by start, in the order in which the first of each came. */
  release(): Generator<Item[], void>;
  /** Deletes the temporary file. */
  close(): void;
}

interface Group {
  keys: readonly string[];
  /** Where each span lies, and how long it is, one after the other. */
  entries: number[];
  bytes: number;
}

export function collectSpans<Item extends Kept>(limits: SpanLimits = {}): SpanCollector<Item> {
  const log = createLog(limits);
  const { traceBytes = maxHeldBytes } = limits;
  const byKey = new Map<string, Group>();
  const groups = new Set<Group>();
  const groupOf = (keys: readonly string[]): Group => {
    const known = byKey.get(keys[0] ?? "");
    if (known !== undefined && keys.every((key) => byKey.get(key) === known)) return known;
    const found = [...new Set(keys.flatMap((key) => byKey.get(key) ?? []))];
    const all = found.sort((one, other) => (one.entries[0] ?? 0) - (other.entries[0] ?? 0));
    const [group = { keys: [], entries: [], bytes: 0 }, ...others] = all;
    group.keys = [...new Set([...all.flatMap((one) => one.keys), ...keys])];
    for (const other of others) {
      group.entries = group.entries.concat(other.entries);
      group.bytes += other.bytes;
      groups.delete(other);
    }
    for (const key of group.keys) byKey.set(key, group);
    groups.add(group);
    return group;
  };
  return {
    add(keys, item) {
      const group = groupOf(keys);
      if (group.bytes > traceBytes && group.entries.length === 0) return true;
      const [at, bytes] = log.append(exactJson(item));
      group.entries.push(at, bytes);
      group.bytes += bytes;
      if (group.bytes <= traceBytes) return true;
      group.entries = [];
      return false;
    },
    *release() {
      byKey.clear();
      for (const group of groups) {
        groups.delete(group);
        if (group.entries.length === 0) continue;
        yield placesOf(group)
          .map(([at, bytes]) => parseExactly(log.read(at, bytes)) as Item)
          .sort(byStart);
      }
    },
    close: log.close,
  };
}

/** Where the spans of a group lie, and how long they are, in the order in which they came. */
function placesOf({ entries }: Group): [at: number, bytes: number][] {
  const places: [number, number][] = [];
  for (let index = 0; index < entries.length; index += 2)
    places.push([entries[index] ?? 0, entries[index + 1] ?? 0]);
  return places.sort(([one], [other]) => one - other);
}

/** A reader of spans. `itemsOf` says what is kept of a document and by which keys; `recordedOf` makes traces of what belongs together. */
export function spanReader<Item extends Kept>(
  itemsOf: (document: TraceDocument) => Iterable<[keys: readonly string[], item: Item]>,
  recordedOf: (items: Item[]) => Iterable<Recorded>,
): TraceReader {
  const spans = collectSpans<Item>();
  return {
    read(document) {
      const kept = Array.from(itemsOf(document), ([keys, item]) => spans.add(keys, item));
      if (kept.includes(false)) throw tooLong("A trace");
      return [];
    },
    *end() {
      for (const items of spans.release()) yield* recordedOf(items);
    },
    close: spans.close,
  };
}

/** Texts that are appended and read again: the last ones are in memory, the others in a temporary file. */
function createLog({ heldBytes = defaultHeldBytes }: SpanLimits) {
  let held = Buffer.allocUnsafeSlow(Math.min(heldBytes, firstHeldBytes));
  /** How many bytes the file has, and how many are held. */
  let [written, used] = [0, 0];
  let file: { path: string; handle: number } | undefined;
  let found = Buffer.alloc(0);
  const spill = () => {
    const path = join(tmpdir(), `presage-spans-${Bun.randomUUIDv7()}`);
    file ??= { path, handle: openSync(path, "wx+", 0o600) };
    for (let from = 0; from < used; ) from += writeSync(file.handle, held, from, used - from);
    written += used;
    used = 0;
  };
  const makeRoom = (bytes: number) => {
    if (used > 0 && used + bytes > heldBytes) spill();
    if (used + bytes <= held.length) return;
    const longer = Buffer.allocUnsafeSlow(Math.max(used + bytes, Math.min(heldBytes, 2 * held.length)));
    held.copy(longer, 0, 0, used);
    held = longer;
  };
  return {
    append(text: string): [at: number, bytes: number] {
      const bytes = Buffer.byteLength(text);
      makeRoom(bytes);
      const at = written + used;
      used += held.write(text, used);
      return [at, bytes];
    },
    read(at: number, bytes: number): string {
      if (at >= written) return held.toString("utf8", at - written, at - written + bytes);
      if (found.length < bytes) found = Buffer.allocUnsafeSlow(2 * bytes);
      for (let read = 0; read < bytes; ) {
        const more = file === undefined ? 0 : readSync(file.handle, found, read, bytes - read, at + read);
        if (more === 0) throw new Error("The temporary file of spans is cut off");
        read += more;
      }
      return found.toString("utf8", 0, bytes);
    },
    close() {
      if (file === undefined) return;
      closeSync(file.handle);
      rmSync(file.path, { force: true });
      file = undefined;
    },
  };
}
