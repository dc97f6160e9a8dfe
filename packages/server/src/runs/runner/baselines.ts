import { setImmediate as nextTurn } from "node:timers/promises";
import { type PositionedSample, readRevision, readSamplesAt } from "../../datasets/samples.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { numberOf, sha256Hex } from "../../platform/words.ts";
import { adaptAnswer, type ExampleServices } from "../../worlds/choose-examples.ts";
import { fieldsOf } from "../../worlds/world.ts";
import { selectLastPosition } from "../report/outcomes-store.ts";
import { actionOf } from "./steps.ts";

/** The most common next state of a sample's action; undefined if it has none. */
export type MostFrequent = (placed: PositionedSample) => Promise<string | undefined>;

/** A next state of an action. */
interface Transition {
  action: number;
  /** The next state's digest. */
  digest: string;
  count: number;
  /** The position of one sample with this transition. */
  position: number;
}

/** The transitions of a revision's samples, as numbers, so that a million of them fit. A sample's are at its position - 1. */
interface Transitions {
  /** Numbers of actions, by their digests. */
  actions: ReadonlyMap<string, number>;
  all: readonly Transition[];
  /** The transition of each sample. */
  of: Int32Array;
  trajectoryOf: Int32Array;
}

const samplesAtOnce = 20_000;

/**
 * Counts the next states of each action in a revision. With `leavesOut`, what a sample's own trajectory contributes does not count,
 * because the same revision is predicted. Texts are not kept, only digests: 100 bytes or so for each different transition.
 */
export async function countNextStates(
  reader: Database,
  revisionId: number,
  { leavesOut, signal }: { leavesOut: boolean; signal: AbortSignal },
): Promise<MostFrequent> {
  const transitions = await readTransitions(reader, revisionId, signal);
  const ranked = await rank(transitions);
  if (!leavesOut) {
    const { actions } = transitions;
    return async ({ sample }) => {
      const [best] = ranked[actions.get(sha256Hex(actionOf(sample))) ?? -1] ?? [];
      return await readNextState(reader, revisionId, best?.position);
    };
  }
  const positions = await chooseFromOthers(transitions, ranked, signal);
  return async ({ position }) => await readNextState(reader, revisionId, positions[position - 1]);
}

async function readTransitions(
  reader: Database,
  revisionId: number,
  signal: AbortSignal,
): Promise<Transitions> {
  const samples = await selectLastPosition(reader, revisionId);
  const actions = new Map<string, number>();
  const trajectories = new Map<string, number>();
  const numbers = new Map<string, number>();
  const all: Transition[] = [];
  const of = new Int32Array(samples);
  const trajectoryOf = new Int32Array(samples);
  for await (const piece of readRevision(reader, revisionId, signal)) {
    for (const { position, sample } of piece) {
      const action = numberOf(actions, sha256Hex(actionOf(sample)));
      const digest = sha256Hex(sample.next_state);
      const number = numberOf(numbers, `${action}/${digest}`);
      const known = all[number];
      if (known === undefined) all.push({ action, digest, count: 1, position });
      else known.count += 1;
      of[position - 1] = number;
      trajectoryOf[position - 1] = numberOf(trajectories, sample.trajectory_id);
    }
  }
  return { actions, all, of, trajectoryOf };
}

/** The transitions of each action, most common first; for equal counts, the smallest digest first. */
async function rank({ actions, all }: Transitions): Promise<Transition[][]> {
  const ranked: Transition[][] = Array.from({ length: actions.size }, () => []);
  for (const transition of all) ranked[transition.action]?.push(transition);
  for (const [number, some] of ranked.entries()) {
    if (number % samplesAtOnce === 0) await nextTurn();
    some.sort((a, b) => b.count - a.count || (a.digest < b.digest ? -1 : 1));
  }
  return ranked;
}

/** For each sample, the position of one with the most common next state outside the sample's trajectory; 0 if there is none. */
async function chooseFromOthers(
  { all, of, trajectoryOf }: Transitions,
  ranked: readonly (readonly Transition[])[],
  signal: AbortSignal,
): Promise<Int32Array> {
  const chosen = new Int32Array(of.length);
  // Sorted as numbers, which takes a tenth of the time of a comparison in code.
  const order = Float64Array.from(trajectoryOf, (trajectory, index) => trajectory * of.length + index).sort();
  const indexAt = (place: number) => (order[place] ?? 0) % of.length;
  for (let start = 0, end = 0; start < order.length; start = end) {
    const trajectory = trajectoryOf[indexAt(start)];
    const own = new Map<Transition, number>();
    for (; end < order.length && trajectoryOf[indexAt(end)] === trajectory; end += 1) {
      if (end % samplesAtOnce === 0) await nextTurn(undefined, { signal });
      const transition = all[of[indexAt(end)] ?? 0];
      if (transition !== undefined) own.set(transition, (own.get(transition) ?? 0) + 1);
    }
    const best = new Map<number, number>();
    for (let place = start; place < end; place += 1) {
      if (place % samplesAtOnce === 0) await nextTurn(undefined, { signal });
      const index = indexAt(place);
      const action = all[of[index] ?? 0]?.action ?? 0;
      const position = best.get(action) ?? commonest(ranked[action] ?? [], own)?.position ?? 0;
      best.set(action, position);
      chosen[index] = position;
    }
  }
  return chosen;
}

/** The first of an action's ranked transitions once a trajectory's own are subtracted. */
function commonest(ranked: readonly Transition[], own: ReadonlyMap<Transition, number>) {
  let best: Transition | undefined;
  let bestCount = 0;
  for (const transition of ranked) {
    const count = transition.count - (own.get(transition) ?? 0);
    if (count > bestCount || (count > 0 && count === bestCount && isBefore(transition, best))) {
      best = transition;
      bestCount = count;
    }
    // Nothing is subtracted from this one, so the ones after it are not more common.
    if (!own.has(transition)) break;
  }
  return best;
}

function isBefore({ digest }: Transition, other: Transition | undefined): boolean {
  return other === undefined || digest < other.digest;
}

async function readNextState(reader: Database, revisionId: number, position: number | undefined) {
  if (position === undefined || position === 0) return undefined;
  for await (const [placed] of readSamplesAt(reader, revisionId, [{ position, bytes: 0 }])) {
    return placed?.sample.next_state;
  }
  return undefined;
}

/** What followed the most similar sample of another trajectory, adapted to the action; undefined if none is similar. `state` replaces the recorded state. */
export type AnswerFromRecords = (
  placed: PositionedSample,
  state: string | undefined,
  signal: AbortSignal,
) => Promise<string | undefined>;

/** Answers from a revision's own samples. */
export function answerFromRevision(
  { indexes, exampleTexts }: ExampleServices,
  reader: Database,
  { accountId, revisionId }: { accountId: string; revisionId: number },
): AnswerFromRecords {
  const source = { accountId, revisionId, filter: {} };
  return async ({ sample }, state, signal) => {
    const query = fieldsOf(sample, state);
    const wanted = { query, k: 1, excluded: [sample.trajectory_id] };
    const [nearest] = (await indexes.find(source, wanted, signal)).examples;
    if (nearest === undefined) return undefined;
    const found = await exampleTexts.read(() => reader, revisionId, [nearest.position]);
    const example = found.get(nearest.position);
    return example && adaptAnswer(query.action, example);
  };
}
