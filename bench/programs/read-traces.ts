// bun read-traces.ts MODE FILE: reads a file of traces in a thread as an upload's, without storing anything. MODE is `import`, or `parse`
// for only `JSON.parse` of its lines. Writes the time and memory it took as JSON.
import { createReadStream, readFileSync } from "node:fs";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { importedSamples, TraceImport } from "../../packages/server/src/datasets/traces/import.ts";
import { readImport } from "../../packages/server/src/datasets/traces/import-options.ts";
import { splitLines } from "../../packages/server/src/datasets/upload/lines.ts";
import { smallHeap } from "../../packages/server/src/platform/storage/thread.ts";

export interface ReadTraces {
  readonly bytes: number;
  readonly samples: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly startRssBytes: number;
  readonly peakRssBytes: number;
}

const chunkBytes = 256 * 1024;
/** In an array, another character precedes a line's document. */
const brace = 0x7b;
let bytes = 0;

async function* chunksOf(path: string): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
    bytes += chunk.length;
    yield chunk;
  }
}

const importAll = async (path: string): Promise<number> => {
  const { options } = readImport({});
  const traces = new TraceImport(options);
  const upload = { maxBytes: Number.POSITIVE_INFINITY, contentType: undefined, source: "traces.jsonl" };
  let samples = 0;
  for await (const some of importedSamples(chunksOf(path), { ...upload, isGzip: false, options }, traces))
    samples += some.length;
  traces.check();
  return samples;
};

const parseAll = async (path: string): Promise<number> => {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let lines = 0;
  for await (const some of splitLines(chunksOf(path)))
    for (const line of some) {
      const at = line.bytes[0] === brace ? 0 : 1;
      if (line.bytes.length > 1 && JSON.parse(utf8.decode(line.bytes.subarray(at))) !== undefined) lines += 1;
    }
  return lines;
};

const peakRssBytes = () =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024;

if (isMainThread) {
  const thread = new Worker(new URL(import.meta.url), smallHeap(process.argv.slice(2)));
  thread.on("message", (read: ReadTraces) => {
    process.stdout.write(JSON.stringify(read));
    process.exit(0);
  });
} else {
  const [mode, path = ""] = workerData as string[];
  const startRssBytes = process.memoryUsage.rss();
  const cpuBefore = process.cpuUsage();
  const startedAtMs = performance.now();
  const samples = await (mode === "parse" ? parseAll(path) : importAll(path));
  const seconds = (performance.now() - startedAtMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  parentPort?.postMessage({
    bytes,
    samples,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    startRssBytes,
    peakRssBytes: peakRssBytes(),
  } satisfies ReadTraces);
}
