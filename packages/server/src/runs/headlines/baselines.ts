import type { HeadlineFigures, ReportEvaluator, RunBaseline } from "@presage/contract";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { areOfSameSamples, isSameNamed, type Run } from "../run.ts";
import { type HeadedRun, selectHeadedBaselines } from "./headlines-store.ts";

/** Finished baselines by the revision that they predicted. */
export type Baselines = ReadonlyMap<number | undefined, readonly HeadedRun[]>;

type Judged = ReportEvaluator & Pick<HeadlineFigures, "no_change">;

/** The baselines for the revisions of these runs. */
export async function readBaselines(
  reader: Database,
  accountId: string,
  runs: readonly Run[],
): Promise<Baselines> {
  const revisionIds = [...new Set(runs.flatMap(({ dataset }) => dataset?.revisionId ?? []))];
  const datasetIds = [...new Set(runs.flatMap(({ dataset }) => dataset?.datasetId ?? []))];
  const found = await selectHeadedBaselines(reader, accountId, { datasetIds, revisionIds });
  return Map.groupBy(found, ({ dataset }) => dataset?.revisionId);
}

/** The baseline that a model has to beat: the best of those that predicted the same samples without a model. */
export function findBaseline(run: Run, judged: Judged, baselines: Baselines): RunBaseline | null {
  const own = baselineOf(run);
  const found: RunBaseline[] = [];
  for (const other of baselines.get(run.dataset?.revisionId) ?? []) {
    const kind = baselineOf(other);
    if (kind === undefined || kind === own || other.mode !== run.mode) continue;
    if (!areOfSameSamples(other.provenance, run.provenance)) continue;
    const figures = other.headline?.evaluators.find((one) => isSameNamed(one, judged));
    if (figures === undefined || figures.pass_rate === null) continue;
    const { pass_rate, pass_interval: interval, count } = figures;
    found.push({ kind, run_id: other.id, pass_rate, interval, count });
  }
  const { no_change: unchanged } = judged;
  // A run of this baseline is preferred, because it can be compared with sample by sample.
  if (unchanged !== null && own !== "no-change" && !found.some(({ kind }) => kind === "no-change")) {
    const { pass_rate, count } = unchanged;
    found.push({ kind: "no-change", run_id: null, pass_rate, interval: null, count });
  }
  return found.sort((a, b) => b.pass_rate - a.pass_rate)[0] ?? null;
}

export function baselineOf({ target: { kind } }: Run): RunBaseline["kind"] | undefined {
  return kind === "no-change" || kind === "most-frequent" || kind === "retrieval" ? kind : undefined;
}
