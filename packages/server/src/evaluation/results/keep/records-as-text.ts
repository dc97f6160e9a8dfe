import type { EvaluationRecord } from "../record/evaluation-record.ts";

interface Shared {
  samples: EvaluationRecord["sample"][];
  metadata: EvaluationRecord["metadata"][];
  /** Of each record the places of its sample and of its metadata, and the rest of it. */
  records: [sample: number, metadata: number, rest: Omit<EvaluationRecord, "sample" | "metadata">][];
}

/** Records as one text for another thread. The evaluators of a sample share its texts, which are written once. */
export function toText(records: readonly EvaluationRecord[]): string {
  const samples = new Map<EvaluationRecord["sample"], number>();
  const metadata = new Map<EvaluationRecord["metadata"], number>();
  const shared: Shared["records"] = records.map(({ sample, metadata: about, ...rest }) => [
    placeOf(samples, sample),
    placeOf(metadata, about),
    rest,
  ]);
  return JSON.stringify({ samples: [...samples.keys()], metadata: [...metadata.keys()], records: shared });
}

function placeOf<Item>(places: Map<Item, number>, item: Item): number {
  const place = places.get(item) ?? places.size;
  places.set(item, place);
  return place;
}

/** The records of a text of `toText`. */
export function toRecords(text: string): EvaluationRecord[] {
  const { samples, metadata, records } = JSON.parse(text) as Shared;
  return records.map(([sample, about, rest]) => ({
    ...rest,
    sample: samples[sample] ?? {},
    metadata: metadata[about] ?? { app: "" },
  }));
}
