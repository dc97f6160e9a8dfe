import { setImmediate as nextTurn } from "node:timers/promises";
import type { DatasetSample, PinnedEnds } from "@presage/contract";
import type { RE2JS } from "re2js";
import { type Matches, rewardOfOutcome, ruleThatEnds, type Turn } from "../../environments/episodes/turns.ts";
import { isContainer, type Json, readJson } from "../../evaluators/rules/json.ts";
import { plainOutput } from "../../evaluators/rules/text.ts";
import { compilePattern } from "../../platform/patterns.ts";
import { toStorableText } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Run } from "../run.ts";
import { readInRanges, selectAnswers, selectRecorded } from "./outcomes-store.ts";
import type { RunSamples } from "./samples.ts";

/** What is said of an end: 1 that there is one, 0 that there is none. */
export const said = { end: 1, goesOn: 0, nothing: -1, noPrediction: -2 } as const;

/** What a run's samples and predictions say of ends and rewards. NaN is no reward. */
export interface ReadEnds {
  /** By index of the sample. */
  recorded: { done: Int8Array; reward: Float64Array };
  /** By index and repeat, those of a sample together. */
  predicted: { done: Int8Array; reward: Float64Array };
}

/** A statement has this much fewer rows than those without texts. */
const heavierRows = 25;
const turnMs = 10;

/** Reads them from the run's texts. A step that says nothing did not end its trajectory if another one follows. */
export async function readEnds(
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
      const at = (position - 1) * repeats + repeat;
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

/** What an answer says of the end and of the reward. */
interface Said {
  done?: boolean | undefined;
  reward?: number | null | undefined;
}

const nothing: Said = {};

/** Whether something of the run says what the reward is. */
export function hasReward({ stop = [], reward_field, reward_evaluator }: PinnedEnds): boolean {
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

/** Instructions of a pattern times characters: ten milliseconds at most. */
const mostSteps = 1_000_000;

/** Tries patterns on this thread, as there may be a million texts; those that would take long not at all. */
function createMatches(): Matches {
  const compiled = new Map<string, RE2JS>();
  return async (pattern, text) => {
    const known = compiled.get(pattern) ?? compilePattern(pattern);
    compiled.set(pattern, known);
    if (known.programSize() * text.length > mostSteps) throw new TooLongError();
    return known.matcher(text).find();
  };
}
