import type { TraceDocument } from "./layout.ts";
export interface DocumentFault {
  place: TraceDocument["place"];
  path: (string | number)[];
  reason: string;
}
export type Found = { document: TraceDocument } | { fault: DocumentFault };
const inner = ["simulations", "resourceSpans", "data", "spans", "runs", "traces", "samples"];
const whole = ["messages", "conversations", "nodes", "trajectory", "steps"];
/** Provisional. */
export async function* readDocuments(
  chunks: AsyncIterable<Uint8Array>,
  _limits: object = {},
): AsyncGenerator<Found[], void> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const text = Buffer.concat(all).toString();
  let values: unknown[];
  let unit: "line" | "document" = "line";
  try {
    values = text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line));
  } catch {
    const value = JSON.parse(text);
    values = Array.isArray(value) ? value : [value];
    unit = "document";
  }
  let number = 0;
  for (const value of values.length === 1 && Array.isArray(values[0]) ? values[0] : values) {
    const object = (typeof value === "object" ? value : {}) as Record<string, unknown>;
    const name = whole.some((one) => one in object)
      ? undefined
      : inner.find(
          (one) =>
            Array.isArray(object[one]) && (object[one] as unknown[]).some((item) => typeof item === "object"),
        );
    if (name === undefined) {
      number += 1;
      yield [{ document: { value, place: [unit, number], bytes: 100 } }];
      continue;
    }
    const { [name]: items, ...envelope } = object;
    for (const item of items as unknown[]) {
      number += 1;
      yield [{ document: { value: item, place: [unit, number], bytes: 100, within: name, envelope } }];
    }
  }
}
