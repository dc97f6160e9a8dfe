import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exactJson, parseExactly } from "./exact-json.ts";
import type { Recorded, TraceDocument, TraceReader } from "./layout.ts";

/** How much JSON of spans is held in memory; what is more lies in a temporary file. */
const defaultHeldBytes = 256 * 1024 * 1024;
const defaultBlockBytes = 1024 * 1024;

interface SpanLimits {
  heldBytes?: number;
  blockBytes?: number;
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
  /** Keeps a span as JSON, with those that share one of its keys. */
  add(keys: readonly string[], item: Item): void;
  /** The spans that belong together, sorted by start, in the order in which the first of each came. */
  release(): Generator<Item[], void>;
  /** Deletes the temporary file. */
  close(): void;
}

interface Group {
  keys: Set<string>;
  /** Where each span lies, and how long it is. */
  entries: [at: number, bytes: number][];
}

export function collectSpans<Item extends Kept>(limits: SpanLimits = {}): SpanCollector<Item> {
  const log = createLog(limits);
  const byKey = new Map<string, Group>();
  const groups = new Set<Group>();
  const groupOf = (keys: readonly string[]): Group => {
    const found = new Set(keys.flatMap((key) => byKey.get(key) ?? []));
    const [group = { keys: new Set<string>(), entries: [] }, ...others] = [...found].sort(
      (one, other) => (one.entries[0]?.[0] ?? 0) - (other.entries[0]?.[0] ?? 0),
    );
    for (const { keys, entries } of others) {
      for (const key of keys) group.keys.add(key);
      group.entries = [...group.entries, ...entries];
    }
    for (const other of others) groups.delete(other);
    for (const key of keys) group.keys.add(key);
    for (const key of others.length > 0 ? group.keys : keys) byKey.set(key, group);
    groups.add(group);
    return group;
  };
  return {
    add(keys, item) {
      const json = Buffer.from(exactJson(item));
      groupOf(keys).entries.push([log.append(json), json.length]);
    },
    *release() {
      byKey.clear();
      for (const group of groups) {
        groups.delete(group);
        const inOrder = group.entries.sort(([one], [other]) => one - other);
        const items = inOrder.map(([at, bytes]) => parseExactly(log.read(at, bytes).toString()) as Item);
        yield items.sort(byStart);
      }
    },
    close: log.close,
  };
}

/** A reader of spans. `itemsOf` says what is kept of a document and by which keys; `recordedOf` makes traces of what belongs together. */
export function spanReader<Item extends Kept>(
  itemsOf: (document: TraceDocument) => Iterable<[keys: readonly string[], item: Item]>,
  recordedOf: (items: Item[]) => Iterable<Recorded>,
): TraceReader {
  const spans = collectSpans<Item>();
  return {
    *read(document) {
      for (const [keys, item] of itemsOf(document)) spans.add(keys, item);
      yield* [];
    },
    *end() {
      for (const items of spans.release()) yield* recordedOf(items);
    },
    close: spans.close,
  };
}

/** Bytes that are appended and read again: the first in memory, the others in a temporary file. */
function createLog({ heldBytes = defaultHeldBytes, blockBytes = defaultBlockBytes }: SpanLimits) {
  const mostBlocks = Math.floor(heldBytes / blockBytes);
  const held: Buffer[] = [];
  /** What is not in the file yet. */
  let last: Buffer | undefined;
  let length = 0;
  let file: { path: string; handle: number } | undefined;
  const write = (block: Buffer) => {
    const path = join(tmpdir(), `presage-spans-${Bun.randomUUIDv7()}`);
    file ??= { path, handle: openSync(path, "wx+", 0o600) };
    writeSync(file.handle, block);
  };
  const copyInto = (to: Buffer, at: number): number => {
    const index = Math.floor(at / blockBytes);
    const from = at % blockBytes;
    const isLast = index === Math.floor((length - 1) / blockBytes);
    const block = held[index] ?? (isLast ? last : undefined);
    if (block !== undefined) return block.copy(to, 0, from);
    const wanted = Math.min(to.length, blockBytes - from);
    return file === undefined ? 0 : readSync(file.handle, to, 0, wanted, at - held.length * blockBytes);
  };
  return {
    append(bytes: Buffer): number {
      const start = length;
      for (let from = 0; from < bytes.length; ) {
        const at = length % blockBytes;
        if (at === 0) {
          if (last !== undefined && held.at(-1) !== last) write(last);
          last = Buffer.allocUnsafe(blockBytes);
          if (held.length < mostBlocks) held.push(last);
        }
        const copied = bytes.copy(last as Buffer, at, from);
        from += copied;
        length += copied;
      }
      return start;
    },
    read(at: number, bytes: number): Buffer {
      const found = Buffer.allocUnsafe(bytes);
      for (let read = 0; read < bytes; ) {
        const copied = copyInto(found.subarray(read), at + read);
        if (copied === 0) throw new Error("The temporary file of spans is cut off");
        read += copied;
      }
      return found;
    },
    close() {
      if (file === undefined) return;
      closeSync(file.handle);
      rmSync(file.path, { force: true });
      file = undefined;
    },
  };
}
