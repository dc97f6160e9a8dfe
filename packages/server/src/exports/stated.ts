import type { DatasetSample } from "@presage/contract";
import type { ReadSample } from "../datasets/formats.ts";
import { LeftOut, TraceTexts } from "../datasets/traces/content.ts";
import type { Layout } from "../datasets/traces/layout.ts";
import { createRedactor } from "../datasets/traces/redaction/redact.ts";
import { samplesOfTrace } from "../datasets/traces/trace-samples.ts";
import type { Trajectory } from "./trajectory.ts";

const fields = [
  ...["step", "context", "interaction", "messages", "next_state", "reward", "done", "at", "usage", "tags"],
] as (keyof DatasetSample & keyof ReadSample)[];

/**
 * What an import of a document would not find in it of the samples that it was made of: an object with the differing fields for each
 * sample, null where none differ. The document carries it as `extra.presage`, so that an import of an export is what was exported.
 */
export function statedFor(layout: Layout, document: unknown, { id, samples }: Trajectory): (object | null)[] {
  const options = {
    source: undefined,
    assistantIs: "agent",
    score: undefined,
    leftOut: new LeftOut(),
  } as const;
  const place = { place: ["document", 1] as ["document", number], bytes: 0 };
  const texts = new TraceTexts(createRedactor("none"));
  const [read] = [...layout.open(options).read({ ...place, value: document })];
  if (read === undefined || !("trace" in read)) throw new Error(`The document is no ${layout.format}`);
  const found = [
    ...samplesOfTrace(
      read.trace,
      { trajectory_id: id, source: layout.format },
      { step: "call", keepsThoughts: false },
      texts,
    ),
  ];
  if (found.length !== samples.length)
    throw new Error(`Of ${samples.length} samples of ${id}, ${layout.format} has ${found.length}`);
  return samples.map((sample, index) => differences(sample, found[index] as ReadSample));
}

function differences(sample: DatasetSample, found: ReadSample): object | null {
  const stated: Record<string, unknown> = {};
  for (const field of fields) {
    const own = present(sample[field]);
    if (!Bun.deepEquals(own, present(found[field]))) stated[field] = own ?? null;
  }
  const usualId = `${sample.trajectory_id}/${sample.step}`;
  if (sample.dataset_sample_id !== usualId) stated.dataset_sample_id = sample.dataset_sample_id;
  return Object.keys(stated).length === 0 ? null : stated;
}

/** Without fields that are not there. */
function present(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value ?? undefined;
  const given = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
