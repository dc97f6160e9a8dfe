// bun send-array.ts: uploads one JSON array of `openai-chat`, generated while it is sent, as the JSON on standard input says. Writes what
// it sent as JSON.

import { setPriority } from "node:os";

export interface SendArray {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly until: { readonly bytes: number } | { readonly seconds: number };
}

export interface SentArray {
  readonly documents: number;
  readonly bytes: number;
}

// A real client has its own processors: here it yields to all other processes.
setPriority(19);

const { url, headers, until } = (await Bun.stdin.json()) as SendArray;

/** Nearly all of a document's 100 kB is reasoning, which is left out: so little is stored that the disk's speed hardly matters. */
const reasoning = JSON.stringify(
  "I read « réglages.toml » first, then\tthe test that fails ✅; テストは三つ失敗しました。\n".repeat(950),
);
const documentOf = (index: number): string =>
  `{"id":"run-${index}","messages":[{"role":"user","content":"Find the key."},{"role":"assistant","reasoning_content":${reasoning},"tool_calls":[{"id":"c","type":"function","function":{"name":"shell","arguments":"{\\"cmd\\":\\"ls ${index}\\"}"}}]},{"role":"tool","tool_call_id":"c","content":"key-${index}.txt"}]}`;
const documentsInChunk = 10;

const utf8 = new TextEncoder();
const startedAtMs = performance.now();
let documents = 0;
let bytes = 0;

const isOver = (): boolean =>
  "bytes" in until ? bytes >= until.bytes : performance.now() - startedAtMs >= until.seconds * 1000;

const body = new ReadableStream<Uint8Array>({
  pull(controller) {
    const made = Array.from({ length: documentsInChunk }, (_, at) => documentOf(documents + at));
    const chunk = utf8.encode(`${documents === 0 ? "[" : ","}${made.join(",")}`);
    documents += documentsInChunk;
    bytes += chunk.length;
    controller.enqueue(chunk);
    if (!isOver()) return;
    controller.enqueue(utf8.encode("]"));
    controller.close();
  },
});

// Gigabytes take longer than the default.
const signal = AbortSignal.timeout(3_600_000);
const response = await fetch(url, { method: "POST", headers, body, signal });
if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
process.stdout.write(JSON.stringify({ documents, bytes } satisfies SentArray));
