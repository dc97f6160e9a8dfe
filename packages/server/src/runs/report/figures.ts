import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunFigures, RunReport } from "@presage/contract";
import { describeAgainstRecords } from "@presage/contract/describe-runs";
import { undefinedIfGone } from "../../platform/errors.ts";
import {
  createClusterSums,
  effectiveClusters,
  type GroupSums,
  noMoments,
  noteOn,
  rateInterval,
  scoreInterval,
  unseenShare,
} from "../../platform/statistics/intervals.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { recordsName } from "../../upstream/completion.ts";
import { compareRuns } from "../compare/compare-runs.ts";
import { asksDeployment, type Run } from "../run.ts";
import { countRepeats, createTally, type Outcomes, type Tally } from "./outcomes.ts";
import { findRecordsRun, readInRanges, selectWorldCounts } from "./outcomes-store.ts";
import type { Dimension, RunSamples } from "./samples.ts";

/** Other work gets a turn after this many samples, which take a few milliseconds. */
const samplesAtOnce = 20_000;

/** Sums for each group of a dimension, by the group's number. */
interface Sums {
  /** For samples with a score, and with a verdict; a sample's value is the mean of its repeats. */
  scores: ReadonlyMap<number, GroupSums>;
  passes: ReadonlyMap<number, GroupSums>;
  samples: Float64Array;
  /** Numbers of predictions. */
  verdicts: Float64Array;
  graded: Float64Array;
  failed: Float64Array;
  notApplicable: Float64Array;
  /** Samples with a score that is not its verdict. */
  apart: Float64Array;
  /** For all samples with a score, a verdict or a failure, which scores 0. */
  countWithFailures: Float64Array;
  scoreCountWithFailures: Float64Array;
  scoreWithFailures: Float64Array;
  passesWithFailures: Float64Array;
  unchangedCount: Float64Array;
  unchangedScore: Float64Array;
  unchangedPasses: Float64Array;
}

type PlainSums = Omit<Sums, "scores" | "passes">;

const none: GroupSums = { ...noMoments, error: null, largest: 0 };

/** Sums the outcomes of each group of a dimension. */
export async function sumsBy(
  { keys, of, sets }: Dimension,
  { order, trajectories }: RunSamples,
  outcomes: Outcomes,
): Promise<Sums> {
  const sums = createSums(keys.length);
  const passes = createClusterSums(keys.length);
  // If every score equals its verdict, as with most rules, the sums are the same.
  const areVerdicts = outcomes.ungraded === 0 && !outcomes.apart.includes(1);
  const scores = areVerdicts ? undefined : createClusterSums(keys.length);
  const addTo = (group: number, index: number) => {
    addSample(sums, group, index, outcomes, tally);
    if (tally.judged === 0) return;
    const trajectory = trajectories.of[index] ?? 0;
    passes.add(group, trajectory, tally.passed / tally.judged);
    const graded = outcomes.graded[index] ?? 0;
    if (graded > 0) scores?.add(group, trajectory, (outcomes.scores[index] ?? 0) / graded);
  };
  const tally = createTally();
  for (let start = 0; start < order.length; start += samplesAtOnce) {
    const end = Math.min(order.length, start + samplesAtOnce);
    for (let place = start; place < end; place++) {
      const index = order[place] ?? 0;
      const group = of[index] ?? -1;
      if (group < 0) continue;
      countRepeats(outcomes, index, tally);
      if (sets === undefined) addTo(group, index);
      else for (const one of sets[group] ?? []) addTo(one, index);
    }
    await nextTurn();
  }
  const ended = passes.end();
  return { ...sums, scores: scores?.end() ?? ended, passes: ended };
}

function createSums(groups: number): PlainSums {
  const numbers = () => new Float64Array(groups);
  return {
    samples: numbers(),
    verdicts: numbers(),
    graded: numbers(),
    failed: numbers(),
    notApplicable: numbers(),
    apart: numbers(),
    countWithFailures: numbers(),
    scoreCountWithFailures: numbers(),
    scoreWithFailures: numbers(),
    passesWithFailures: numbers(),
    unchangedCount: numbers(),
    unchangedScore: numbers(),
    unchangedPasses: numbers(),
  };
}

function addSample(
  sums: PlainSums,
  group: number,
  index: number,
  outcomes: Outcomes,
  { judged, passed, failed, notApplicable }: Tally,
): void {
  add(sums.samples, group, 1);
  add(sums.notApplicable, group, notApplicable);
  if (judged + failed === 0) return;
  const score = outcomes.scores[index] ?? 0;
  const graded = outcomes.graded[index] ?? 0;
  add(sums.failed, group, failed);
  add(sums.countWithFailures, group, 1);
  add(sums.passesWithFailures, group, passed / (judged + failed));
  if (graded + failed > 0) {
    add(sums.scoreCountWithFailures, group, 1);
    add(sums.scoreWithFailures, group, score / (graded + failed));
  }
  if (judged === 0) return;
  add(sums.verdicts, group, judged);
  add(sums.graded, group, graded);
  add(sums.apart, group, outcomes.apart[index] ?? 0);
  const unchanged = outcomes.unchangedScore[index] ?? Number.NaN;
  if (Number.isNaN(unchanged)) return;
  add(sums.unchangedCount, group, 1);
  add(sums.unchangedScore, group, unchanged);
  add(sums.unchangedPasses, group, outcomes.unchangedPass[index] ?? 0);
}

function add(to: Float64Array, group: number, amount: number): void {
  to[group] = (to[group] ?? 0) + amount;
}

/** Whether there is a verdict or a failure in a group. */
export function hasOutcomes({ countWithFailures }: Sums, group: number): boolean {
  return (countWithFailures[group] ?? 0) > 0;
}

/** A group's mean score if failures score 0; its pass rate if no verdict has a score. Null without verdicts and failures. */
export function meanWithFailures(sums: Sums, group: number): number | null {
  return (
    scoreWithFailures(sums, group) ?? shareOf(sums.passesWithFailures[group], sums.countWithFailures[group])
  );
}

/** Also null if there are verdicts and none has a score. */
function scoreWithFailures(sums: Sums, group: number): number | null {
  const hasScores = sums.graded[group] !== 0 || sums.verdicts[group] === 0;
  return hasScores ? shareOf(sums.scoreWithFailures[group], sums.scoreCountWithFailures[group]) : null;
}

function shareOf(sum = 0, count = 0): number | null {
  return count === 0 ? null : sum / count;
}

/** A group's figures; they are null if there is nothing to compute them from. */
export function toFigures(sums: Sums, group: number): RunFigures {
  const at = (values: Float64Array) => values[group] ?? 0;
  const scores = sums.scores.get(group) ?? none;
  const passes = sums.passes.get(group) ?? none;
  // If all scores are verdicts, the mean is the pass rate and gets the same interval.
  const interval = (at(sums.apart) === 0 ? rateInterval : scoreInterval)(scores, scores.error);
  const passInterval = rateInterval(passes, passes.error);
  const unseen = passes.clusters === 0 ? null : unseenShare(passes.clusters);
  const ifMissing = (bounds: RunFigures["interval"]) =>
    bounds === null || unseen === null ? null : bounds.lower * (1 - unseen);
  const unchanged = at(sums.unchangedCount);
  return {
    samples: at(sums.samples),
    count: passes.count,
    without_verdict: at(sums.samples) - passes.count,
    verdicts: at(sums.verdicts),
    graded: at(sums.graded),
    failed: at(sums.failed),
    not_applicable: at(sums.notApplicable),
    trajectories: passes.clusters,
    effective_trajectories: passes.count === 0 ? null : effectiveClusters(passes),
    mean: shareOf(scores.sum, scores.count),
    standard_error: scores.error,
    interval,
    pass_rate: shareOf(passes.sum, passes.count),
    pass_standard_error: passes.error,
    pass_interval: passInterval,
    unseen_share: unseen,
    lower_if_missing: ifMissing(interval),
    pass_lower_if_missing: ifMissing(passInterval),
    mean_failures_as_zero: scoreWithFailures(sums, group),
    pass_rate_failures_as_zero: shareOf(at(sums.passesWithFailures), at(sums.countWithFailures)),
    no_change:
      unchanged === 0
        ? null
        : {
            mean: at(sums.unchangedScore) / unchanged,
            pass_rate: at(sums.unchangedPasses) / unchanged,
            count: unchanged,
          },
    note: noteOn(passes),
  };
}

/** What a run's predictions were based on, if its target is a world. */
export async function reportWorld(
  reader: Database,
  { id, target, repeats }: Run,
  samples: number,
): Promise<Pick<RunReport, "world">> {
  if (target.kind !== "world") return {};
  const world: NonNullable<RunReport["world"]> = { leaves_out: 0, near_duplicates: 0, answered_by: {} };
  for await (const rows of readInRanges(samples, repeats, (range) => selectWorldCounts(reader, id, range))) {
    for (const { deployment, predictions, leavesOut, nearDuplicates } of rows) {
      world.leaves_out += leavesOut;
      world.near_duplicates += nearDuplicates;
      if (deployment !== null)
        world.answered_by[deployment] = (world.answered_by[deployment] ?? 0) + predictions;
    }
  }
  return { world };
}

/** Whether a run's model beats the answers of the records alone, if such a run exists. */
export async function reportAgainstRecords(
  services: { store: Store },
  requester: Requester,
  run: Run,
): Promise<Pick<RunReport, "records">> {
  if (!asksDeployment(run)) return {};
  const records = await findRecordsRun(services.store.reader(requester), run);
  if (records === undefined) return {};
  const compared = await compareRuns(services, requester, [records, run]).catch(undefinedIfGone);
  if (compared === undefined) return {};
  const evaluators = compared.evaluators.flatMap(({ reference: _, candidates: [candidate], ...names }) => {
    if (candidate === undefined) return [];
    const { difference, interval, outcome } = candidate;
    const sentence = describeAgainstRecords(candidate);
    return [{ ...names, difference, interval, outcome, sentence }];
  });
  return { records: { run_id: records.id, name: records.name, evaluators } };
}

/** The share of the answers above which a warning is worthwhile. */
const shareOfNearDuplicates = 0.05;

/** Warnings about what makes the figures of a run through a world less certain. */
export function worldWarnings({ target }: Run, { world }: Pick<RunReport, "world">): string[] {
  if (world === undefined) return [];
  const { near_duplicates: near, answered_by: answeredBy } = world;
  const answers = Object.values(answeredBy).reduce((sum, count) => sum + count, 0);
  const ofRecords = answeredBy[recordsName] ?? 0;
  const share = (count: number, what: string) =>
    `${count} of ${answers} ${what} (${Math.round((100 * count) / answers)} %)`;
  return [
    ...(target.kind === "world" && target.asksModel && ofRecords > 0
      ? [`${share(ofRecords, "answers")} are of the records alone, as the deployment could not be reached.`]
      : []),
    ...(near > answers * shareOfNearDuplicates
      ? [
          `Near duplicates: for ${share(near, "predictions")}, an example has the same fields and the same next state, in another trajectory. Split the dataset by another tag, such as its tasks, for figures of what is new.`,
        ]
      : []),
  ];
}
