import type { Comparison, ComparisonCandidate } from "@presage/contract";
import { fewestClusters, holm, level } from "../../platform/statistics/differences.ts";
import { sampleKey } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { defined } from "../../platform/words.ts";
import { type ClientEvaluator, readClientResults } from "../client/client-results.ts";
import { correctedDifferences } from "../labels/corrected.ts";
import { type Outcomes, readFailedPredictions, readOutcomes } from "../report/outcomes.ts";
import { readInRanges, selectLastPosition, selectSampleIds } from "../report/outcomes-store.ts";
import {
  byChanges,
  byStep,
  byWhetherChanged,
  matchSamples,
  type RunSamples,
  readDrawn,
  readRunSamples,
  type SampleMatch,
} from "../report/samples.ts";
import {
  type EvaluatorNames,
  isClientRun,
  isPreliminary,
  isSameNamed,
  type Run,
  type RunDataset,
  sampleName,
  samplesOfRevision,
  toEvaluatorNames,
} from "../run.ts";
import { refuseDeleted } from "../runs.ts";
import {
  type ComparedValues,
  type ComparisonDimensions,
  compareValues,
  indexesOfAll,
  meansOf,
  measureOf,
  permutationSeed,
  type Values,
  valuesOf,
} from "./compare-values.ts";

interface ComparedRun {
  run: Run;
  /** The indexes of the reference's samples in this run. */
  match: SampleMatch;
  evaluators: readonly ComparedEvaluator[];
  /** Whether only the samples that a pilot predicts count. */
  isOfPilot?: boolean;
}

interface ComparedEvaluator extends Pick<ClientEvaluator, "names" | "hasPasses"> {
  /** Outcomes by the index of the run's own samples. */
  outcomes(): Outcomes | Promise<Outcomes>;
}

/** The runs in their order, and the samples of the first one. */
interface ComparedRuns {
  samples: RunSamples;
  compared: [ComparedRun, ...ComparedRun[]];
}

function findEvaluator({ evaluators }: ComparedRun, names: EvaluatorNames): ComparedEvaluator | undefined {
  return evaluators.find((one) => isSameNamed(one.names, names));
}

/** Runs of datasets, whose samples are matched by content. */
async function matchRuns(reader: Database, runs: readonly [Run, ...Run[]]): Promise<ComparedRuns> {
  const [reference, ...others] = runs;
  const samples = await readRunSamples(reader, reference);
  const [own, ...matches] = await matchSamples(reader, reference, runs, samples.count);
  if (own === undefined) throw new Error("There is no reference to compare with");
  const toCompared = async (run: Run, match: SampleMatch): Promise<ComparedRun> => ({
    run,
    match,
    evaluators: await evaluatorsOf(reader, run, match.samples),
  });
  const compared: ComparedRuns["compared"] = [await toCompared(reference, own)];
  for (const [index, run] of others.entries()) {
    const match = matches[index];
    if (match !== undefined) compared.push(await toCompared(run, match));
  }
  return { samples, compared };
}

async function evaluatorsOf(reader: Database, run: Run, samples: number): Promise<ComparedEvaluator[]> {
  const failed = await readFailedPredictions(reader, run, samples);
  return run.evaluators.map((evaluator, index) => ({
    names: toEvaluatorNames(evaluator),
    hasPasses: true,
    outcomes: () => readOutcomes(reader, run, index, failed),
  }));
}

/** If there is a pilot, compares runs only on the samples that it predicts, so that nothing counts as missing in the others. */
async function withoutUndrawn(
  reader: Database,
  { samples, compared: [reference, ...others] }: ComparedRuns,
): Promise<ComparedRuns> {
  const isLeftOut = new Uint8Array(samples.count);
  const counts: (number | undefined)[] = [];
  for (const { run, match } of [reference, ...others]) {
    const drawn = await readDrawn(reader, run);
    counts.push(drawn === undefined ? undefined : run.provenance.draw?.samples);
    for (const [index, own] of match.indexes.entries())
      if (own >= 0 && drawn?.[own] === 0) isLeftOut[index] = 1;
  }
  if (!isLeftOut.includes(1)) return { samples, compared: [reference, ...others] };
  const restrict = (one: ComparedRun, place: number): ComparedRun => ({
    ...one,
    match: {
      indexes: one.match.indexes.map((own, index) => (isLeftOut[index] === 1 ? -1 : own)),
      samples: counts[place] ?? one.match.samples,
    },
    isOfPilot: true,
  });
  return {
    samples,
    compared: [restrict(reference, 0), ...others.map((one, place) => restrict(one, place + 1))],
  };
}

/** A run, and the indexes of its samples by `sampleName`. */
interface NamedRun extends Omit<ComparedRun, "match"> {
  count: number;
  indexOf: ReadonlyMap<string, number>;
  samples(): RunSamples | Promise<RunSamples>;
}

/**
 * Runs, some of them clients'. Only the names of a client run's samples are known, so all samples are matched by the ids of
 * dataset and sample; a sample without both ids is in no other run.
 */
async function matchRunsByName(reader: Database, runs: readonly [Run, ...Run[]]): Promise<ComparedRuns> {
  const [first, ...others] = runs;
  const reference = await readNamedRun(reader, first);
  const samples = await reference.samples();
  const own = Int32Array.from({ length: samples.count }, (_, index) => index);
  const compared: ComparedRuns["compared"] = [withMatch(reference, own)];
  for (const run of others) {
    const candidate = await readNamedRun(reader, run);
    const indexes = new Int32Array(samples.count).fill(-1);
    for (const [name, index] of reference.indexOf) indexes[index] = candidate.indexOf.get(name) ?? -1;
    compared.push(withMatch(candidate, indexes));
  }
  return { samples, compared };
}

function withMatch({ run, evaluators, count }: NamedRun, indexes: Int32Array): ComparedRun {
  return { run, evaluators, match: { indexes, samples: count } };
}

async function readNamedRun(reader: Database, run: Run): Promise<NamedRun> {
  const { dataset } = run;
  if (dataset === undefined) {
    const { samples, indexOf, evaluators } = await readClientResults(reader, run);
    return { run, evaluators, count: samples.count, indexOf, samples: () => samples };
  }
  const count = await selectLastPosition(reader, dataset.revisionId);
  return {
    run,
    evaluators: await evaluatorsOf(reader, run, count),
    count,
    indexOf: await readNames(reader, dataset, count),
    samples: () => readRunSamples(reader, run),
  };
}

async function readNames(reader: Database, { datasetId, revisionId }: RunDataset, count: number) {
  const indexOf = new Map<string, number>();
  const read = readInRanges(count, 1, (range) => selectSampleIds(reader, revisionId, range));
  for await (const rows of read) {
    for (const { position, sample_id } of rows)
      indexOf.set(sampleName(datasetId, sampleKey(sample_id)), position - 1);
  }
  return indexOf;
}

/** A comparison without the runs themselves. */
export interface RunDifferences extends Omit<Comparison, "runs"> {
  /** For each run, how many samples are left out. */
  leftOut: number[];
}

/** One evaluator's differences, before the p-values of all are adjusted. */
type Unadjusted = Omit<Comparison["evaluators"][number], "candidates"> & {
  candidates: UnadjustedCandidate[];
};
type UnadjustedCandidate = ComparedValues & Pick<ComparisonCandidate, "run_id">;

/** How runs differ from the first one, on the samples that all of them have a verdict for. */
export async function compareRuns(
  { store }: { store: Store },
  requester: Requester,
  runs: readonly [Run, ...Run[]],
): Promise<RunDifferences> {
  const reader = store.reader(requester);
  const hasClientRun = runs.some(isClientRun);
  const match = hasClientRun ? matchRunsByName : matchRuns;
  const { samples, compared } = await match(reader, runs).then((all) => withoutUndrawn(reader, all));
  const none = { keys: [], of: new Int32Array(samples.count).fill(-1) };
  const dimensions = {
    step: byStep(samples).dimension,
    // The states of a client run were never compared.
    changed: isClientRun(runs[0]) ? none : byWhetherChanged(samples),
    changes: isClientRun(runs[0]) ? none : byChanges(samples),
  };
  const differences: Unadjusted[] = [];
  for (const { names } of compared[0].evaluators) {
    const having = compared.filter((one) => findEvaluator(one, names) !== undefined);
    if (having.length < 2) continue;
    const found = await compareBy(names, having, samples, dimensions);
    const [first, ...rest] = having.map(({ run }) => run);
    const corrected = first && (await correctedDifferences(reader, [first, ...rest], found));
    const candidates = found.candidates.map((one) => ({
      ...one,
      ...defined({ corrected: corrected?.get(one.run_id) }),
    }));
    differences.push({ ...found, candidates });
  }
  const matches = compared.map(({ match }) => match);
  const inAll = countInAll(matches, samples.count);
  await refuseDeleted({ store }, requester, runs);
  return {
    preliminary: runs.some(isPreliminary),
    evaluators: withAdjusted(differences),
    evaluators_left_out: evaluatorsLeftOut(compared),
    leftOut: matches.map((match) => match.samples - inAll),
    seed: permutationSeed,
    provenance: { statistics: 2 },
  };
}

/** Compares the runs that have this evaluator, the first of which is the reference. */
async function compareBy(
  names: EvaluatorNames,
  runs: readonly ComparedRun[],
  samples: RunSamples,
  dimensions: ComparisonDimensions,
): Promise<Unadjusted> {
  const all: { run: Run; values: Values; hasPasses: boolean }[] = [];
  for (const one of runs) {
    const evaluator = findEvaluator(one, names);
    if (evaluator === undefined) continue;
    const { hasPasses } = evaluator;
    const values = await valuesOf(await evaluator.outcomes(), one.match.indexes, othersOf(one), hasPasses);
    all.push({ run: one.run, values, hasPasses });
  }
  const [reference, ...candidates] = all;
  if (reference === undefined) throw new Error("There is no reference to compare with");
  const measured = measureOf(all.map(({ values }) => values));
  const indexesOf = (values: (of: Values) => Float64Array) =>
    indexesOfAll(
      samples.order,
      all.map((one) => values(one.values)),
    );
  const common = {
    samples,
    measured,
    judged: indexesOf(measured.value),
    ended: indexesOf(measured.withFailures),
  };
  const compared: Unadjusted["candidates"] = [];
  for (const { run, values, hasPasses } of candidates) {
    const found = await compareValues(reference.values, values, common, dimensions);
    compared.push({ run_id: run.id, ...found, ...(hasPasses ? {} : { pass_rate: null }) });
  }
  return {
    ...names,
    reference: {
      run_id: reference.run.id,
      ...meansOf(reference.values, common),
      ...(reference.hasPasses ? {} : { pass_rate: null }),
    },
    candidates: compared,
  };
}

/** Applies Holm's correction over all evaluators and candidates. */
function withAdjusted(compared: readonly Unadjusted[]): Comparison["evaluators"] {
  const testable = ({ trajectories, p_value }: UnadjustedCandidate) =>
    trajectories < fewestClusters ? null : p_value;
  const adjusted = holm(compared.flatMap(({ candidates }) => candidates.map(testable)));
  let place = 0;
  return compared.map(({ candidates, ...evaluator }) => ({
    ...evaluator,
    candidates: candidates.map((candidate) => {
      place += 1;
      return decide(candidate, adjusted[place - 1] ?? null);
    }),
  }));
}

/** The conclusion of the test. If fewer than six trajectories differ, no choice of signs has a p-value below 0.05. */
function decide(
  { differing, survives, ...candidate }: UnadjustedCandidate,
  p: number | null,
): ComparisonCandidate {
  const isDecided = p !== null && p < level;
  const undecided =
    candidate.trajectories < fewestClusters
      ? "few_trajectories"
      : differing < fewestClusters
        ? "few_differ"
        : "within_noise";
  return {
    ...candidate,
    p_adjusted: p,
    outcome: isDecided ? ((candidate.difference ?? 0) > 0 ? "better" : "worse") : "undecided",
    why: isDecided ? null : undecided,
    survives_one_failure: isDecided ? survives : null,
  };
}

/** The evaluators that only the reference has, and those that it lacks. */
function evaluatorsLeftOut([
  reference,
  ...others
]: ComparedRuns["compared"]): Comparison["evaluators_left_out"] {
  const leftOut = ({ run, evaluators }: ComparedRun, among: readonly ComparedRun[]) =>
    evaluators
      .filter(({ names }) => !among.some((one) => findEvaluator(one, names) !== undefined))
      .map(({ names }) => ({ run_id: run.id, ...names }));
  return [...leftOut(reference, others), ...others.flatMap((one) => leftOut(one, [reference]))];
}

/** A run's samples that the reference's revision does not have. */
function othersOf({ match: { indexes, samples }, isOfPilot = false }: ComparedRun): number[] {
  if (isOfPilot) return [];
  const matched = new Uint8Array(samples);
  for (const own of indexes) if (own >= 0) matched[own] = 1;
  const others: number[] = [];
  for (const [own, isMatched] of matched.entries()) if (isMatched === 0) others.push(own);
  return others;
}

/** How many samples are in the revisions of all runs. */
function countInAll(matches: readonly SampleMatch[], samples: number): number {
  let count = 0;
  for (let index = 0; index < samples; index++) {
    if (matches.every(({ indexes }) => (indexes[index] ?? -1) >= 0)) count += 1;
  }
  return count;
}

const bytesPerSample = 200;
const bytesPerSampleOfRun = 80;
const bytesPerRepeat = 2;
const bytesOfComparison = 4_000_000;

/** The memory that making a comparison takes, in addition to that for client runs. */
export function comparisonMemoryBytes(
  runs: readonly Pick<Run, "counts" | "repeats" | "provenance">[],
): number {
  return runs.reduce((sum, run, index) => {
    const perSample = bytesPerSampleOfRun + (index === 0 ? bytesPerSample : 0);
    return sum + samplesOfRevision(run) * (perSample + run.repeats * bytesPerRepeat);
  }, bytesOfComparison);
}
