import type { LabelSample, LabelSampleRequest } from "@presage/contract";
import { toExternalName } from "../../evaluators/outcome.ts";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { ServiceError } from "../../platform/errors.ts";
import { nowMicros, toFlag, toIsoInstant } from "../../platform/storage/columns.ts";
import { doOnce, type Once } from "../../platform/storage/once.ts";
import type { LabelSamplesTable } from "../../platform/storage/schema/results.ts";
import type { Requester } from "../../platform/storage/store.ts";
import {
  type DrawableRow,
  insertLabelSample,
  selectDrawable,
  selectLabelSamples,
  selectSampleItems,
  storedEvaluator,
} from "../../results/labels/label-samples-store.ts";
import { isPreliminary } from "../run.ts";
import { type FindNeeds, findRun } from "../runs.ts";
import { evaluatorNamed } from "./evaluator-named.ts";

/** How many verdicts of a kind there were, and with which probability one of them was drawn. */
export interface Stratum {
  /** Null: passes and fails together. */
  pass: boolean | null;
  count: number;
  probability: number;
}

const mostSamples = 100;
/** Of a verdict that could be drawn, with its place. */
const bytesPerVerdict = 250;

/** Draws verdicts of a run to be labelled, and keeps with which probability each was drawn. */
export async function drawLabelSample(
  services: FindNeeds,
  requester: Changer & { userId: string },
  runId: string,
  { size, seed = 1, by = "uniform", ...named }: LabelSampleRequest,
  { once, reserve }: { once: Once | undefined; reserve(bytes: number): void },
): Promise<LabelSample> {
  const run = await findRun(services, requester, runId);
  if (isPreliminary(run))
    throw new ServiceError(
      "conflict",
      "The run has not ended. Draw from it when all of its verdicts are there.",
    );
  const { evaluator, profile_name } = evaluatorNamed(run, named);
  const of = { runId: run.id, ...storedEvaluator(evaluator), profileName: profile_name };
  reserve(run.counts.samples * bytesPerVerdict);
  const rows: DrawableRow[] = [];
  let leftOut = 0;
  for await (const some of selectDrawable(services.store.reader(requester), requester.accountId, of)) {
    const different = some.filter(({ is_equal }) => is_equal === 0);
    rows.push(...different);
    leftOut += some.length - different.length;
  }
  const { drawn, strata } = draw(rows, { size, seed, by });
  const id = Bun.randomUUIDv7();
  const row = {
    id,
    account_id: requester.accountId,
    run_id: run.id,
    evaluator_id: of.evaluatorId,
    is_external: toFlag(of.isExternal),
    profile_name: of.profileName,
    design: by,
    seed,
    left_out: leftOut,
    strata: JSON.stringify(strata),
    created_by: requester.userId,
    created_at: nowMicros(),
  };
  const items = drawn.map((one, position) => ({ sample_id: id, position, ...one }));
  const stored = await doOnce(services.store.writer(requester), once, {
    async work(transaction) {
      await insertLabelSample(transaction, row, items);
      const detail = { run_id: run.id, size: items.length, seed, by };
      await recordChange(transaction, requester, { action: "evaluation_result.draw", objectId: id, detail });
      return { id };
    },
    toReceipt: (receipt) => receipt,
    recall: async (receipt) => receipt,
  });
  const all = await listLabelSamples(services, requester, run.id);
  const made = all.find((one) => one.id === stored.id);
  if (made === undefined) throw new ServiceError("not_found", "The draw was deleted with its run.");
  return made;
}

interface Design {
  size: number;
  seed: number;
  by: "uniform" | "verdict";
}

/** The first of all in an order that the seed decides; by verdict, half of each kind, and more of one where the other has too few. */
function draw(rows: readonly DrawableRow[], { size, seed, by }: Design) {
  const inOrder = rows
    .map((row) => ({ ...row, place: Bun.hash.xxHash32(`${seed} ${row.id}`) }))
    .sort((a, b) => a.place - b.place || a.id - b.id);
  const kinds = by === "uniform" ? [null] : [true, false];
  const groups = kinds.map((pass) => inOrder.filter((row) => pass === null || (row.pass === 1) === pass));
  const [first = [], second = []] = groups;
  const half = Math.max(Math.ceil(size / 2), size - second.length);
  const sizes = by === "uniform" ? [size] : [half, size - Math.min(first.length, half)];
  const strata = groups.map((group, index): Stratum => {
    const taken = Math.min(group.length, sizes[index] ?? 0);
    const probability = group.length === 0 ? 0 : taken / group.length;
    return { pass: kinds[index] ?? null, count: group.length, probability };
  });
  const drawn = groups.flatMap((group, index) =>
    group
      .slice(0, sizes[index])
      .map(({ id, place }) => ({ result_id: id, place, probability: strata[index]?.probability ?? 0 })),
  );
  // Passes and fails mixed, so that their order gives no verdict away.
  drawn.sort((a, b) => a.place - b.place || a.result_id - b.result_id);
  return { drawn: drawn.map(({ place: _, ...item }) => item), strata };
}

/** The last draws of a run, the newest first. */
export async function listLabelSamples(
  services: FindNeeds,
  requester: Requester,
  runId: string,
): Promise<LabelSample[]> {
  const run = await findRun(services, requester, runId);
  const reader = services.store.reader(requester);
  const samples = await selectLabelSamples(reader, requester.accountId, [run.id], mostSamples);
  const items = Map.groupBy(
    await selectSampleItems(
      reader,
      samples.map(({ id }) => id),
    ),
    ({ sample_id }) => sample_id,
  );
  return samples.map((sample) => ({
    ...describe(sample),
    data: (items.get(sample.id) ?? []).map(({ result_id, probability, is_labelled }) => ({
      result_id: String(result_id),
      probability,
      labelled: is_labelled === 1,
    })),
  }));
}

function describe(sample: LabelSamplesTable): Omit<LabelSample, "data"> {
  const strata = JSON.parse(sample.strata) as Stratum[];
  const { evaluator_id: name } = sample;
  return {
    id: sample.id,
    run_id: sample.run_id,
    evaluator: sample.is_external === 1 ? toExternalName(name) : name,
    profile_name: sample.profile_name,
    by: sample.design,
    seed: sample.seed,
    drawn_from: strata.reduce((sum, { count }) => sum + count, 0),
    left_out: sample.left_out,
    created_at: toIsoInstant(sample.created_at),
  };
}
