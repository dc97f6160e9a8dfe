import { setImmediate as nextTurn } from "node:timers/promises";
import type { DatasetSample, PinnedEnds, RealityFigure, RunEndsReport, RunReport } from "@presage/contract";
import type { RE2JS } from "re2js";
import { type Matches, rewardOfOutcome, ruleThatEnds, type Turn } from "../../environments/episodes/turns.ts";
import { isContainer, type Json, readJson } from "../../evaluators/rules/json.ts";
import { plainOutput } from "../../evaluators/rules/text.ts";
import { compilePattern } from "../../platform/patterns.ts";
import {
  createClusterSums,
  effectiveClusters,
  type GroupSums,
  rateInterval,
} from "../../platform/statistics/intervals.ts";
import { type RewardPair, rewardFigures } from "../../platform/statistics/outcome-pairs.ts";
import { toStorableText } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { countOf } from "../../platform/words.ts";
import { predictionIndex, type Run } from "../run.ts";
import { readInRanges, selectAnswers, selectRecorded } from "./outcomes-store.ts";
import { byStep, type Dimension, type RunSamples, together } from "./samples.ts";

/** Whether an episode is said to end. */
export const said = { end: 1, goesOn: 0, nothing: -1, noPrediction: -2 } as const;

/** The ends and rewards in a run's samples and predictions. NaN means no reward. */
interface ReadEnds {
  /** By the index of the sample. */
  recorded: { done: Int8Array; reward: Float64Array };
  /** By index and repeat, with the repeats of a sample together. */
  predicted: { done: Int8Array; reward: Float64Array };
}

/** A statement with texts reads this many times fewer rows. */
const heavierRows = 25;
const turnMs = 10;

/** Reads ends and rewards from the run's texts. A step that says nothing did not end its trajectory if another step follows. */
async function readEnds(
  reader: Database,
  { id, repeats, dataset }: Pick<Run, "id" | "repeats" | "dataset">,
  ends: PinnedEnds,
  { count, order, trajectories }: RunSamples,
): Promise<ReadEnds> {
  const recorded = {
    done: filled(Int8Array, count, said.nothing),
    reward: filled(Float64Array, count, Number.NaN),
  };
  const predicted = {
    done: filled(Int8Array, count * repeats, said.noPrediction),
    reward: filled(Float64Array, count * repeats, Number.NaN),
  };
  const findEnd = endFinder(ends);
  const read = readInRanges(count, repeats * heavierRows, async (range) => [
    {
      samples: await selectRecorded(reader, dataset?.revisionId ?? 0, range),
      answers: await selectAnswers(reader, id, range),
    },
  ]);
  for await (const [piece] of read) {
    const actions = new Map<number, string>();
    for (const { position, body, message } of piece?.samples ?? []) {
      const { interaction, reward, done } = JSON.parse(body) as DatasetSample;
      const { content } = JSON.parse(message ?? "{}") as { content?: string };
      actions.set(position, toStorableText(interaction?.action ?? content ?? ""));
      recorded.reward[position - 1] = reward ?? Number.NaN;
      if (done !== undefined) recorded.done[position - 1] = done ? said.end : said.goesOn;
    }
    let startedAt = performance.now();
    for (const { position, repeat, output } of piece?.answers ?? []) {
      const at = predictionIndex({ position, repeat }, repeats);
      const turn = { action: actions.get(position) ?? "", observation: output ?? "" };
      const { done, reward } = output === null ? nothing : await findEnd(turn);
      predicted.done[at] = done === undefined ? said.nothing : done ? said.end : said.goesOn;
      predicted.reward[at] = reward ?? Number.NaN;
      if (performance.now() - startedAt < turnMs) continue;
      await nextTurn();
      startedAt = performance.now();
    }
  }
  if (recorded.done.some((one) => one !== said.nothing))
    for (const [place, index] of order.subarray(0, -1).entries()) {
      const isFollowed = trajectories.of[index] === trajectories.of[order[place + 1] ?? 0];
      if (isFollowed && recorded.done[index] === said.nothing) recorded.done[index] = said.goesOn;
    }
  return { recorded, predicted };
}

function filled<Numbers extends Int8Array | Float64Array>(
  of: new (length: number) => Numbers,
  length: number,
  value: number,
): Numbers {
  return new of(length).fill(value) as Numbers;
}

/** What an answer says about the end and the reward. */
interface Said {
  done?: boolean | undefined;
  reward?: number | null | undefined;
}

const nothing: Said = {};

/** Whether the run has a definition of the reward. */
function hasReward({ stop = [], reward_field, reward_evaluator }: PinnedEnds): boolean {
  if (reward_field !== undefined) return true;
  return reward_evaluator === undefined && rewardOfOutcome(stop, null) !== null;
}

function endFinder(ends: PinnedEnds): (turn: Turn) => Promise<Said> {
  const { stop, done_field, reward_field } = ends;
  const doneAt = done_field === undefined ? undefined : keysOf(done_field);
  const rewardAt = reward_field === undefined ? undefined : keysOf(reward_field);
  const ofOutcome = hasReward(ends) && rewardAt === undefined;
  const matches = createMatches();
  return async (turn) => {
    const document = doneAt || rewardAt ? readJson(plainOutput(turn.observation)).value : undefined;
    const [done, reward] = [doneAt, rewardAt].map((keys) => keys && valueAt(document, keys));
    const told = {
      done: typeof done === "boolean" ? done : undefined,
      reward: typeof reward === "number" ? reward : undefined,
    };
    if (stop === undefined) return told;
    try {
      const rule = await ruleThatEnds(stop, turn, {}, matches);
      const outcome = ofOutcome ? rewardOfOutcome(stop, rule?.outcome ?? null) : told.reward;
      return { done: rule !== undefined, reward: outcome };
    } catch (error) {
      if (error instanceof TooLongError) return { reward: told.reward };
      throw error;
    }
  };
}

const key = /\.([^.[\]]+)|\[(?:'([^']*)'|(\d+))\]/g;

function keysOf(path: string): string[] {
  return Array.from(path.matchAll(key), ([, name, quoted, index]) => name ?? quoted ?? index ?? "");
}

function valueAt(document: Json | undefined, keys: readonly string[]): Json | undefined {
  return keys.reduce<Json | undefined>(
    (value, key) =>
      isContainer(value) && Object.hasOwn(value, key) ? (value as Record<string, Json>)[key] : undefined,
    document,
  );
}

class TooLongError extends Error {}

/** The most instructions of a pattern times characters: ten milliseconds at most. */
const mostSteps = 1_000_000;

/** Tries patterns on this thread, because there may be a million texts; patterns that would take long are not tried at all. */
function createMatches(): Matches {
  const compiled = new Map<string, RE2JS>();
  return async (pattern, text) => {
    const known = compiled.get(pattern) ?? compilePattern(pattern);
    compiled.set(pattern, known);
    if (known.programSize() * text.length > mostSteps) throw new TooLongError();
    return known.matcher(text).find();
  };
}

type Done = NonNullable<RunEndsReport["done"]>;
type Rewards = NonNullable<RunEndsReport["reward"]>;
type Figure = Done["agreement"];

/** Whether a run's predictions end when the real environment ends, and pay what it pays. */
export async function reportEnds(
  reader: Database,
  run: Run,
  samples: RunSamples,
): Promise<Pick<RunReport, "ends">> {
  const { ends } = run.provenance;
  if (ends === undefined)
    return { ends: { sentence: null, done: null, reward: null, note: "The run was made without `ends`." } };
  const read = await readEnds(reader, run, ends, samples);
  const whyNot = whyNothing(ends, read);
  const done = whyNot.done === undefined ? await reportDone(samples, read) : null;
  const reward = whyNot.reward === undefined ? await reportRewards(samples, read) : null;
  const sentences = [...(done ? [describeDone(done)] : []), ...(reward ? [describeRewards(reward)] : [])];
  const notes = [whyNot.done, whyNot.reward].filter((note) => note !== undefined);
  return {
    ends: { sentence: sentences.join(" ") || null, done, reward, note: notes.join(" ") || null },
  };
}

function whyNothing(ends: PinnedEnds, { recorded }: ReadEnds): { done?: string; reward?: string } {
  const { stop, done_field, reward_evaluator } = ends;
  const found: { done?: string; reward?: string } = {};
  if (stop === undefined && done_field === undefined) found.done = "Nothing says that an episode ends.";
  else if (recorded.done.every((one) => one === said.nothing))
    found.done = "No sample says whether the episode ended.";
  if (recorded.reward.every(Number.isNaN)) found.reward = "No sample has a reward.";
  else if (!hasReward(ends))
    found.reward =
      reward_evaluator === undefined
        ? "Nothing says what the reward is: no field, and no rule that leads to success."
        : `The environment's rewards are those of ${reward_evaluator}, which judges by a task's goal; samples have none.`;
  return found;
}

const samplesAtOnce = 20_000;

/** Calls `visit` with each repeat of each sample whose group is one of the dimension's, in the order of trajectories. */
async function visitRepeats(
  { count, order, trajectories }: RunSamples,
  { of }: Dimension,
  { predicted }: ReadEnds,
  visit: (at: { group: number; trajectory: number; index: number; repeat: number }) => void,
): Promise<void> {
  const repeats = count === 0 ? 0 : predicted.done.length / count;
  for (const [place, index] of order.entries()) {
    if (place % samplesAtOnce === samplesAtOnce - 1) await nextTurn();
    const group = of[index] ?? -1;
    if (group < 0) continue;
    const trajectory = trajectories.of[index] ?? 0;
    for (let repeat = index * repeats; repeat < (index + 1) * repeats; repeat++)
      if (predicted.done[repeat] !== said.noPrediction) visit({ group, trajectory, index, repeat });
  }
}

export async function reportDone(samples: RunSamples, read: ReadEnds): Promise<Done> {
  const [all] = await doneBy(samples, together(samples), read);
  const { dimension } = byStep(samples);
  const steps = await doneBy(samples, dimension, read);
  const step = steps.flatMap(({ counts, agreement }, group) =>
    agreement.count === 0 ? [] : [{ key: Number(dimension.keys[group]), counts, agreement }],
  );
  if (all === undefined) throw new Error("There is no group of all samples");
  return { ...all, step };
}

async function doneBy(
  samples: RunSamples,
  dimension: Dimension,
  read: ReadEnds,
): Promise<Omit<Done, "step">[]> {
  const groups = dimension.keys.map(() => ({
    counts: { both: 0, only_predicted: 0, only_recorded: 0, neither: 0 },
    without: 0,
  }));
  const sums = () => createClusterSums(groups.length);
  const [right, isFalse, missed] = [sums(), sums(), sums()];
  await visitRepeats(samples, dimension, read, ({ group, trajectory, index, repeat }) => {
    const recorded = read.recorded.done[index];
    const predicted = read.predicted.done[repeat];
    const found = groups[group];
    if (recorded === said.nothing || found === undefined) return;
    if (predicted === said.nothing) {
      found.without += 1;
      return;
    }
    const [ends, ended] = [predicted === said.end, recorded === said.end];
    found.counts[ends ? (ended ? "both" : "only_predicted") : ended ? "only_recorded" : "neither"] += 1;
    right.add(group, trajectory, Number(ends === ended));
    if (ends) isFalse.add(group, trajectory, Number(!ended));
    if (ended) missed.add(group, trajectory, Number(!ends));
  });
  const [ofRight, ofFalse, ofMissed] = [right.end(), isFalse.end(), missed.end()];
  return groups.map((found, group) => ({
    ...found,
    agreement: figureOf(ofRight.get(group), "No prediction says whether the episode ends."),
    false_ends: figureOf(ofFalse.get(group), "No prediction ends."),
    missed_ends: figureOf(ofMissed.get(group), "No real end is among them."),
  }));
}

const oneTrajectory = "One trajectory only: there is no interval.";

/** A share of predictions. */
function figureOf(sums: GroupSums | undefined, why: string): Figure {
  if (sums === undefined)
    return {
      value: null,
      interval: null,
      count: 0,
      trajectories: 0,
      effective_trajectories: null,
      note: why,
    };
  const interval = rateInterval(sums, sums.error);
  return {
    value: sums.sum / sums.count,
    interval,
    count: sums.count,
    trajectories: sums.clusters,
    effective_trajectories: effectiveClusters(sums),
    note: interval === null ? oneTrajectory : null,
  };
}

async function reportRewards(samples: RunSamples, read: ReadEnds): Promise<Rewards> {
  const { recorded, predicted } = read;
  const { dimension } = byStep(samples);
  let without = 0;
  const pairs: (RewardPair & { group: number })[] = [];
  await visitRepeats(samples, together(samples), read, ({ index, trajectory, repeat }) => {
    const [real = Number.NaN, simulated = Number.NaN] = [recorded.reward[index], predicted.reward[repeat]];
    if (Number.isNaN(real)) return;
    const group = dimension.of[index] ?? -1;
    if (Number.isNaN(simulated)) without += 1;
    else pairs.push({ task: String(trajectory), simulated, real, group });
  });
  const byGroup = Map.groupBy(pairs, ({ group }) => group);
  const step: Rewards["step"] = [];
  for (const [group, key] of dimension.keys.entries()) {
    const some = byGroup.get(group);
    // Together they take about as long as a single figure for all.
    if (some) step.push({ key: Number(key), ...(await rewardsOf(some, some.length / pairs.length)) });
  }
  return { ...(await rewardsOf(pairs, 1)), without, step };
}

async function rewardsOf(pairs: readonly RewardPair[], shareOfWork: number) {
  const { absolute_error, spearman } = await rewardFigures(pairs, shareOfWork);
  return { absolute_error: ofTrajectories(absolute_error), spearman: ofTrajectories(spearman) };
}

/** A figure for episodes by task, reworded for predictions by trajectory. */
function ofTrajectories({ tasks, effective_tasks, note, ...figure }: RealityFigure): Figure {
  return {
    ...figure,
    trajectories: tasks,
    effective_trajectories: effective_tasks,
    note:
      note
        ?.replaceAll("tasks", "trajectories")
        .replace("task", "trajectory")
        .replace("episode", "prediction") ?? null,
  };
}

function describeDone({ counts, agreement }: Done): string {
  const { value, interval, note } = agreement;
  if (value === null) return note ?? "";
  const range =
    interval === null ? "" : ` (95 % interval ${tenths(100 * interval.lower)} to ${percent(interval.upper)})`;
  const real = countOf(counts.both + counts.only_recorded, "prediction");
  const own = countOf(counts.both + counts.only_predicted, "end");
  return `Ends where the real one ends: ${percent(value)}${range} of ${basisOf(agreement)}. It misses the end in ${counts.only_recorded} of ${real} at real ends; of the ${own} that it predicts, ${counts.only_predicted} ${counts.only_predicted === 1 ? "is" : "are"} false.`;
}

function describeRewards({ absolute_error: error, spearman }: Rewards): string {
  if (error.value === null) return error.note ?? "";
  const of = ({ value, interval }: Figure) =>
    `${value?.toFixed(2)}${interval === null ? "" : ` (95 % interval ${interval.lower.toFixed(2)} to ${interval.upper.toFixed(2)})`}`;
  const ranked = spearman.value === null ? "" : `; rank correlation ${of(spearman)}`;
  return `Rewards are off by ${of(error)} on average over ${basisOf(error)}${ranked}.`;
}

function basisOf({ count, trajectories }: Figure): string {
  return `${countOf(count, "prediction")} in ${countOf(trajectories, "trajectory", "trajectories")}`;
}

function percent(share: number): string {
  return `${tenths(100 * share)} %`;
}

function tenths(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}
