import { sampleKey } from "../../platform/storage/sample-columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { readExternalResults } from "../external/read-external-results.ts";
import { selectLastPosition, selectSampleIds } from "../report/outcomes-store.ts";
import { readInRanges } from "../report/read-in-ranges.ts";
import { type RunSamples, readRunSamples } from "../report/run-samples.ts";
import { isExternal, type Run, type RunDataset, sampleName } from "../run.ts";
import { type Side, type Sides, toSide } from "./sides.ts";

/** A run with the indexes of its samples by `sampleName`. */
interface NamedSide extends Omit<Side, "match"> {
  count: number;
  indexOf: ReadonlyMap<string, number>;
}

/**
 * Runs, some of them external. Of an external run's samples only the names are known, so all are matched by the ids of
 * dataset and sample; what has only one of them is in no other run.
 */
export async function readSidesByName(reader: Database, runs: readonly [Run, ...Run[]]): Promise<Sides> {
  const [reference, ...others] = runs;
  const { samples, ...own } = await readReference(reader, reference);
  const sides: Sides["sides"] = [
    matched(
      own,
      Int32Array.from({ length: samples.count }, (_, index) => index),
    ),
  ];
  for (const run of others) {
    const side = await readSide(reader, run);
    const indexes = new Int32Array(samples.count).fill(-1);
    for (const [name, index] of own.indexOf) indexes[index] = side.indexOf.get(name) ?? -1;
    sides.push(matched(side, indexes));
  }
  return { samples, sides };
}

function matched({ run, evaluators, count }: NamedSide, indexes: Int32Array): Side {
  return { run, evaluators, match: { indexes, samples: count } };
}

async function readReference(reader: Database, run: Run): Promise<NamedSide & { samples: RunSamples }> {
  if (!isExternal(run)) {
    const samples = await readRunSamples(reader, run.dataset?.revisionId ?? 0);
    return { samples, ...(await readSide(reader, run)) };
  }
  const { samples, indexOf, evaluators } = await readExternalResults(reader, run);
  return { run, samples, indexOf, evaluators, count: samples.count };
}

async function readSide(reader: Database, run: Run): Promise<NamedSide> {
  const { dataset } = run;
  if (dataset === undefined) return await readReference(reader, run);
  const count = await selectLastPosition(reader, dataset.revisionId);
  const { evaluators } = await toSide(reader, run, { indexes: new Int32Array(0), samples: count });
  return { run, evaluators, count, indexOf: await readNames(reader, dataset, count) };
}

async function readNames(
  reader: Database,
  { datasetId, revisionId }: RunDataset,
  count: number,
): Promise<Map<string, number>> {
  const indexOf = new Map<string, number>();
  const read = readInRanges(count, 1, (range) => selectSampleIds(reader, revisionId, range));
  for await (const rows of read) {
    for (const { position, sample_id } of rows)
      indexOf.set(sampleName(datasetId, sampleKey(sample_id)), position - 1);
  }
  return indexOf;
}
