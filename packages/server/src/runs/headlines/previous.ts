import type { RunPrevious } from "@presage/contract";
import { evaluatorName } from "@presage/contract/describe-runs";
import { undefinedIfGone } from "../../platform/errors.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { compareRuns, comparisonMemoryBytes } from "../compare/compare-runs.ts";
import { hasSamplesOf, nameOf, type Run } from "../run.ts";
import { selectRun } from "../runs-store.ts";
import { baselineOf, findBaseline, readBaselines } from "./baselines.ts";
import {
  type BaselineOutcome,
  type StoredHeadline,
  selectFinishedBefore,
  selectHeadline,
} from "./headlines-store.ts";

/** Callers reserve memory for a comparison of equally many samples. A much larger run is left out: a revision may have a million. */
const mostUnreserved = 32_000_000;

/** How a finished run and its setup differ from the previous run over the same dataset; null if there is none. */
export async function compareWithPrevious(
  { store }: { store: Store },
  requester: Requester,
  run: Run,
): Promise<RunPrevious | null> {
  const before = await selectFinishedBefore(store.reader(requester), run);
  const reserved = comparisonMemoryBytes([run, run]);
  const earlier = before.filter(
    (one) =>
      hasSamplesOf(one.provenance, run.provenance) &&
      comparisonMemoryBytes([one, run]) - reserved <= mostUnreserved,
  );
  const byName = earlier.find(({ name }) => name === run.name);
  const line = lineOf(run);
  const previous = byName ?? earlier.find((one) => lineOf(one) === line);
  if (previous === undefined) return null;
  const compared = await compareRuns({ store }, requester, [previous, run]).catch(undefinedIfGone);
  if (compared === undefined) return null;
  return {
    run_id: previous.id,
    name: previous.name,
    by: byName === undefined ? "target" : "name",
    ...whatChanged(previous, run),
    evaluators: compared.evaluators.flatMap(({ reference: _, candidates: [candidate], ...names }) => {
      if (candidate === undefined) return [];
      const { measure, difference, interval, outcome, count, trajectories } = candidate;
      return [{ ...names, measure, difference, interval, outcome, count, trajectories }];
    }),
  };
}

/** Compares a finished run with each baseline that is the best by one of its evaluators. */
export async function compareWithBaselines(
  services: { store: Store },
  requester: Requester,
  run: Run,
  evaluators: StoredHeadline["evaluators"],
): Promise<BaselineOutcome[]> {
  if (run.status !== "finished" || baselineOf(run) !== undefined) return [];
  const baselines = await readBaselines(services.store.reader(requester), run.account_id, [run]);
  const best = new Set(evaluators.map((one) => findBaseline(run, one, baselines)?.run_id));
  const outcomes: BaselineOutcome[] = [];
  for (const other of baselines.get(run.dataset?.revisionId) ?? []) {
    if (!best.has(other.id)) continue;
    const compared = await compareRuns(services, requester, [other, run]).catch(undefinedIfGone);
    for (const {
      evaluator,
      profile_id,
      profile_name,
      profile_revision,
      candidates,
    } of compared?.evaluators ?? [])
      for (const { outcome } of candidates)
        outcomes.push({ run_id: other.id, evaluator, profile_id, profile_name, profile_revision, outcome });
  }
  return outcomes;
}

/** The same comparison as stored with the run, or made now if it was not; null also if the previous run was deleted. */
export async function findPrevious(
  services: { store: Store },
  requester: Requester,
  run: Run,
): Promise<RunPrevious | null> {
  if (run.status !== "finished" || run.dataset === undefined) return null;
  const reader = services.store.briefReader(requester);
  const headline = await selectHeadline(reader, run.id);
  if (headline === null) return await compareWithPrevious(services, requester, run);
  const { previous } = headline;
  if (previous === null) return null;
  return (await selectRun(reader, run.account_id, previous.run_id)) === undefined ? null : previous;
}

/** Equal for runs with the same row of figures: one target in any revision, in one mode. Imported predictions are told apart by name. */
export function lineOf({ target, mode, name, dataset }: Run): string {
  const what =
    target.kind === "world" ? target.name : target.kind === "imported" ? name : JSON.stringify(target);
  return JSON.stringify([target.kind, what, mode, dataset?.datasetId]);
}

/** The setup of the runs, as far as it differs and as far as it does not. */
function whatChanged(before: Run, after: Run): Pick<RunPrevious, "changes" | "unchanged"> {
  const [old, now] = [aspectsOf(before), aspectsOf(after)];
  const changes: RunPrevious["changes"] = [];
  const unchanged: string[] = [];
  for (const what of new Set([...now.keys(), ...old.keys()])) {
    const [was, is] = [old.get(what) ?? null, now.get(what) ?? null];
    if (was === is) unchanged.push(what);
    else changes.push({ what, before: was, after: is });
  }
  return { changes, unchanged };
}

function aspectsOf({ target, provenance, dataset, mode, repeats, params, evaluators }: Run) {
  const { prompt_version: prompt, models } = provenance;
  return new Map<string, string>([
    ...(target.kind === "world"
      ? ([
          ["world", target.name],
          ["world revision", String(target.revision)],
        ] as const)
      : ([["target", nameOf(target)]] as const)),
    ...(models.length === 0 ? [] : ([["model", models.join(", ")]] as const)),
    ...(prompt === null ? [] : ([["prompt revision", prompt]] as const)),
    ["dataset revision", String(dataset?.revision ?? "")],
    ...(provenance.draw
      ? ([["samples", `${provenance.draw.samples} of ${provenance.draw.of}`]] as const)
      : []),
    ["mode", mode],
    ["repeats", String(repeats)],
    ...Object.entries(params ?? {}).map(
      ([name, value]) => [`params.${name}`, JSON.stringify(value)] as const,
    ),
    ...evaluators.map(
      ({ id, family, profile }) =>
        [
          evaluatorName({ evaluator: family, profile_name: profile.name }),
          `${id} revision ${profile.revision}`,
        ] as const,
    ),
  ]);
}
