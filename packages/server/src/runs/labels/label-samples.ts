import type { LabelSample, LabelSampleRequest } from "@presage/contract";
import { toExternalName } from "../../evaluators/outcome.ts";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { conflict, ServiceError } from "../../platform/errors.ts";
import { nowMicros, toFlag, toIsoInstant } from "../../platform/storage/columns.ts";
import type { KeysetPage, ListPart } from "../../platform/storage/lists.ts";
import { doOnce, type Once, recallEarlier } from "../../platform/storage/once.ts";
import type { LabelSamplesTable } from "../../platform/storage/schema/results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester } from "../../platform/storage/store.ts";
import {
  type DrawableRow,
  insertLabelSample,
  selectDrawable,
  selectLabelSample,
  selectLabelSamples,
  selectSampleItems,
  storedEvaluator,
} from "../../results/labels/labels-store.ts";
import { isClientRun, isPreliminary } from "../run.ts";
import { evaluatorNamed } from "../run-samples.ts";
import { type FindNeeds, findRun } from "../runs.ts";
import type { Stratum } from "./corrected.ts";

/** For a verdict that may be drawn. */
const bytesPerVerdict = 250;

/** Draws verdicts of a run to be labelled, and stores the probability with which each was drawn. */
export async function drawLabelSample(
  services: FindNeeds,
  requester: Changer & { userId: string },
  runId: string,
  { size, seed = 1, by = "uniform", ...named }: LabelSampleRequest,
  { once, reserve }: { once: Once | undefined; reserve(bytes: number): void },
): Promise<LabelSample> {
  const recall = async ({ id }: { id: string }): Promise<LabelSample> => {
    const reader = services.store.reader(requester);
    const kept = await selectLabelSample(reader, requester.accountId, id);
    const [made] = await describeSamples(reader, kept);
    if (made === undefined) throw new ServiceError("not_found", "The draw was deleted with its run.");
    return made;
  };
  const earlier = await recallEarlier(services.store.database, once, recall);
  if (earlier !== undefined) return earlier;
  const run = await findRun(services, requester, runId);
  if (isPreliminary(run)) throw conflict("The run has not ended. Draw from it once it has.");
  const { evaluator, profile_name } = evaluatorNamed(run, named, { where: "body" });
  const of = { runId: run.id, ...storedEvaluator(evaluator), profileName: profile_name };
  reserve(size * keptTimes * bytesPerVerdict);
  const drawing = startDraw({ size, seed, by });
  let leftOut = 0;
  for await (const some of selectDrawable(services.store.reader(requester), requester.accountId, {
    ...of,
    isOfClient: isClientRun(run),
  })) {
    const different = some.filter(({ is_equal }) => is_equal === 0);
    drawing.add(different);
    leftOut += some.length - different.length;
  }
  const { drawn, strata } = drawing.end();
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
      await recordChange(transaction, requester, "evaluation_result.draw", id, detail);
      return { id };
    },
    toReceipt: (receipt) => receipt,
    recall: async (receipt) => receipt,
  });
  return await recall(stored);
}

interface Design {
  size: number;
  seed: number;
  by: "uniform" | "verdict";
}

interface Placed extends DrawableRow {
  place: number;
}

const byPlace = (a: Placed, b: Placed) => a.place - b.place || a.id - b.id;
/** How many times the wanted number is kept before the surplus is dropped. */
const keptTimes = 8;

/** The first verdicts of a kind, in an order that the seed decides. */
function firstOf(kind: boolean | null, { size, seed }: Design) {
  let first: Placed[] = [];
  let count = 0;
  const cut = () => {
    first = first.sort(byPlace).slice(0, size);
  };
  return {
    kind,
    count: () => count,
    add(row: DrawableRow): void {
      if (kind !== null && (row.pass === 1) !== kind) return;
      count += 1;
      first.push({ ...row, place: Bun.hash.xxHash32(`${seed} ${row.id}`) });
      if (first.length >= size * keptTimes) cut();
    },
    end(): Placed[] {
      cut();
      return first;
    },
  };
}

/** The first verdicts in an order that the seed decides; by verdict, half of each kind, and more of one if the other has too few. */
function startDraw(design: Design) {
  const { size, by } = design;
  const groups = (by === "uniform" ? [null] : [true, false]).map((kind) => firstOf(kind, design));
  return {
    add(rows: readonly DrawableRow[]): void {
      for (const row of rows) for (const group of groups) group.add(row);
    },
    end() {
      const [first = 0, second = 0] = groups.map((group) => group.count());
      const half = Math.max(Math.ceil(size / 2), size - second);
      const sizes = by === "uniform" ? [size] : [half, size - Math.min(first, half)];
      const parts = groups.map((group, index) => {
        const taken = group.end().slice(0, sizes[index]);
        const probability = group.count() === 0 ? 0 : taken.length / group.count();
        const stratum: Stratum = { pass: group.kind, count: group.count(), probability };
        return { stratum, taken: taken.map((row) => ({ ...row, probability })) };
      });
      // Passes and fails are mixed, so that their order gives no verdict away.
      const drawn = parts.flatMap(({ taken }) => taken).sort(byPlace);
      return {
        drawn: drawn.map(({ id: result_id, probability }) => ({ result_id, probability })),
        strata: parts.map(({ stratum }) => stratum),
      };
    },
  };
}

/** Draws of a run, newest first. */
export async function listLabelSamples(
  services: FindNeeds,
  requester: Requester,
  runId: string,
  page: KeysetPage,
): Promise<ListPart<LabelSample>> {
  const run = await findRun(services, requester, runId);
  const reader = services.store.reader(requester);
  const { rows, next } = await selectLabelSamples(reader, requester.accountId, run.id, page);
  return { rows: await describeSamples(reader, rows), next };
}

async function describeSamples(
  reader: Database,
  samples: readonly LabelSamplesTable[],
): Promise<LabelSample[]> {
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
