import { setImmediate as nextTurn } from "node:timers/promises";
import { trajectoryTag } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { type Outcomes, outcome } from "../report/outcomes.ts";
import { createTexts, inTrajectories, type RunSamples } from "../report/samples.ts";
import { type EvaluatorNames, type Run, sampleName } from "../run.ts";
import {
  type ClientResultRow,
  evaluatorNamesOf,
  resultsParts,
  selectClientResults,
} from "./client-results-store.ts";

/** Rows of one statement. They are parsed on the main thread, so they must be few. */
const rowsAtOnce = 2_000;
const stepTag = "step";

/** A client run's samples, as its results name them, and its evaluators' verdicts on them. */
export interface ClientResults {
  samples: RunSamples;
  /** The indexes of samples that have both a dataset's id and a sample's, by `sampleName`. */
  indexOf: ReadonlyMap<string, number>;
  evaluators: readonly ClientEvaluator[];
}

export interface ClientEvaluator {
  names: EvaluatorNames;
  /** Whether its results say if a sample passed, rather than only give a score. */
  hasPasses: boolean;
  outcomes(): Outcomes;
}

/** Reads all results that name a client run, range by range. */
export async function readClientResults(
  reader: Database,
  run: Pick<Run, "id" | "account_id">,
): Promise<ClientResults> {
  const samples = collectSamples();
  const evaluators = new Map<string, Collected>();
  for (const part of resultsParts) {
    for (let after = 0; ; ) {
      const rows = await selectClientResults(reader, run, part, { after, limit: rowsAtOnce });
      for (const row of rows) {
        const names = evaluatorNamesOf(row);
        const key = JSON.stringify(names);
        const collected = evaluators.get(key) ?? { names, of: [], results: [] };
        evaluators.set(key, collected);
        collected.of.push(samples.add(row));
        collected.results.push(row.status === "success" ? toResult(row) : row.status);
      }
      after = rows.at(-1)?.id ?? after;
      if (rows.length < rowsAtOnce) break;
      // An in-memory database reads without waiting.
      await nextTurn();
    }
  }
  const found = samples.end();
  const sorted = [...evaluators].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...found,
    evaluators: sorted.map(([, collected]) => toEvaluator(collected, found.samples.count)),
  };
}

/** A verdict, a score or both, or why there is neither. */
type Result = { pass: boolean | undefined; score: number | null } | string;

/** The evaluator's own verdict, as in other runs: corrections do not change reports. */
function toResult({ pass, score }: ClientResultRow): Result {
  if (pass === null) return score === null ? "incomplete" : { pass: undefined, score };
  return { pass: pass === 1, score };
}

/** One evaluator's results, each with the index of its sample. */
interface Collected {
  names: EvaluatorNames;
  of: number[];
  results: Result[];
}

function toEvaluator({ names, of, results }: Collected, count: number): ClientEvaluator {
  const hasPasses = results.some((result) => typeof result === "object" && result.pass !== undefined);
  return { names, hasPasses, outcomes: () => toOutcomes({ of, results }, count, hasPasses) };
}

/** Each sample has as many repeats as results. */
function toOutcomes(
  { of, results }: Pick<Collected, "of" | "results">,
  count: number,
  hasPasses: boolean,
): Outcomes {
  const starts = new Int32Array(count + 1);
  for (const index of of) starts[index + 1] = (starts[index + 1] ?? 0) + 1;
  for (let index = 0; index < count; index++) {
    starts[index + 1] = (starts[index + 1] ?? 0) + (starts[index] ?? 0);
  }
  const next = starts.slice();
  const codes = new Uint8Array(of.length);
  const scores = new Float64Array(count);
  const graded = new Uint32Array(count);
  const apart = new Uint8Array(count);
  let ungraded = 0;
  const failures: Record<string, number> = {};
  for (const [at, index] of of.entries()) {
    const found = results[at] ?? "incomplete";
    const place = next[index] ?? 0;
    next[index] = place + 1;
    // Among verdicts, a score alone does not say who passed.
    if (found === "not_applicable") codes[place] = outcome.notApplicable;
    else if (typeof found === "string" || (hasPasses && found.pass === undefined)) {
      const why = typeof found === "string" ? found : "incomplete";
      failures[why] = (failures[why] ?? 0) + 1;
      codes[place] = outcome.evaluatorFailed;
    } else {
      codes[place] = found.pass === true ? outcome.pass : outcome.fail;
      if (found.score === null) {
        ungraded += 1;
        continue;
      }
      scores[index] = (scores[index] ?? 0) + found.score;
      graded[index] = (graded[index] ?? 0) + 1;
      if (found.score !== Number(found.pass)) apart[index] = 1;
    }
  }
  return {
    repeats: 1,
    starts,
    of: codes,
    scores,
    graded,
    ungraded,
    apart,
    unchangedScore: new Float64Array(count).fill(Number.NaN),
    unchangedPass: new Uint8Array(count),
    failures,
  };
}

/** Collects samples in the order in which they first appear. A result that names no sample is a sample by itself. */
function collectSamples() {
  const indexes = new Map<string, number>();
  const indexOf = new Map<string, number>();
  const clusters = new Map<number, number>();
  const clusterNames: string[] = [];
  const clusterOf: number[] = [];
  const steps: number[] = [];
  const tags: (string | null)[] = [];

  function toCluster(clusterId: number | null, name: string | undefined): number {
    const known = clusterId === null ? undefined : clusters.get(clusterId);
    if (known !== undefined) return known;
    const number = clusterNames.push(name ?? "") - 1;
    if (clusterId !== null) clusters.set(clusterId, number);
    return number;
  }

  return {
    /** The index of a result's sample. The first of a sample's results determines its fields. */
    add(row: ClientResultRow): number {
      const { dataset_id: datasetId, sample_key: key } = row;
      const name = key === null ? undefined : sampleName(datasetId, key);
      const known = name === undefined ? undefined : indexes.get(name);
      if (known !== undefined) return known;
      const { trajectory, step, rest } = readTags(row.tags);
      const index = clusterOf.push(toCluster(row.cluster_id, trajectory)) - 1;
      steps.push(step);
      tags.push(rest);
      if (name !== undefined) {
        indexes.set(name, index);
        if (datasetId !== null) indexOf.set(name, index);
      }
      return index;
    },
    end(): Pick<ClientResults, "samples" | "indexOf"> {
      const count = clusterOf.length;
      const trajectories = { texts: clusterNames, of: Int32Array.from(clusterOf) };
      const step = Float64Array.from(steps);
      const tagTexts = createTexts(count);
      for (const [index, text] of tags.entries()) tagTexts.set(index, text);
      const samples = {
        count,
        trajectories,
        step,
        changes: new Int32Array(count).fill(-1),
        verbs: createTexts(count),
        tags: tagTexts,
        order: inTrajectories(trajectories, step),
      };
      return { samples, indexOf };
    },
  };
}

/** The tags that say where a sample is, and the others as JSON. */
function readTags(json: string | null): {
  trajectory: string | undefined;
  step: number;
  rest: string | null;
} {
  if (json === null) return { trajectory: undefined, step: Number.NaN, rest: null };
  const {
    [trajectoryTag]: trajectory,
    [stepTag]: step = "",
    ...rest
  } = JSON.parse(json) as Record<string, string>;
  return {
    trajectory,
    step: /^\d{1,15}$/.test(step) ? Number(step) : Number.NaN,
    rest: Object.keys(rest).length === 0 ? null : JSON.stringify(rest),
  };
}
