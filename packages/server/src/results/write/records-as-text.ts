import type { Sample } from "../../evaluators/outcome.ts";
import type { EvaluationRecord } from "../evaluation-record.ts";

interface Shared {
  systemPrompts: string[];
  samples: (Omit<Sample, "systemPrompt"> & { systemPrompt?: number | undefined })[];
  metadata: EvaluationRecord["metadata"][];
  /** Of each record the places of its sample and of its metadata, and the rest of it. */
  records: [sample: number, metadata: number, rest: Omit<EvaluationRecord, "sample" | "metadata">][];
}

/**
 * Records as one text for another thread. The evaluators of a sample share its texts, and the samples of a run often their system
 * prompt: both are written once.
 */
export function toText(records: readonly EvaluationRecord[]): string {
  const samples = new Map<Sample, number>();
  const metadata = new Map<EvaluationRecord["metadata"], number>();
  const shared: Shared["records"] = records.map(({ sample, metadata: about, ...rest }) => [
    placeOf(samples, sample),
    placeOf(metadata, about),
    rest,
  ]);
  const systemPrompts = new Map<string, number>();
  const written = Array.from(samples.keys(), ({ systemPrompt, ...sample }) =>
    systemPrompt === undefined ? sample : { ...sample, systemPrompt: placeOf(systemPrompts, systemPrompt) },
  );
  const text: Shared = {
    systemPrompts: [...systemPrompts.keys()],
    samples: written,
    metadata: [...metadata.keys()],
    records: shared,
  };
  return JSON.stringify(text);
}

function placeOf<Item>(places: Map<Item, number>, item: Item): number {
  const place = places.get(item) ?? places.size;
  places.set(item, place);
  return place;
}

/** The records of a text of `toText`. */
export function toRecords(text: string): EvaluationRecord[] {
  const { systemPrompts, samples, metadata, records } = JSON.parse(text) as Shared;
  const read = samples.map(
    ({ systemPrompt: place, ...sample }): Sample =>
      place === undefined ? sample : { systemPrompt: systemPrompts[place], ...sample },
  );
  return records.map(([sample, about, rest]) => ({
    ...rest,
    sample: read[sample] ?? {},
    metadata: metadata[about] ?? { app: "" },
  }));
}
