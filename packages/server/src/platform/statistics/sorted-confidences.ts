import { setImmediate as nextTurn } from "node:timers/promises";

/** Predictions with a confidence and a verdict, in any order. There may be a million. */
export interface JudgedConfidences {
  /** From 0 to 1. */
  confidences: Float64Array;
  /** 1 where the verdict is a pass. */
  right: Uint8Array;
  /** The trajectory of each, numbered from 0 without gaps. */
  trajectories: Int32Array;
}

/** The same, the least confident first. A place is an index here. */
export interface SortedConfidences extends JudgedConfidences {
  count: number;
  clusters: number;
  /** Of the predictions with the same confidence as the one at a place: the first one's place, and the one behind the last. */
  tieStarts: Int32Array;
  tieEnds: Int32Array;
  /** The sums before each place, and of all. */
  rightBefore: Float64Array;
  confidenceBefore: Float64Array;
}

/** Sorted in parts of this many ranges, so that other work gets a turn. */
const ranges = 4_096;
const placesAtOnce = 50_000;

export async function sortConfidences(judged: JudgedConfidences): Promise<SortedConfidences> {
  const order = await orderOf(judged.confidences);
  await nextTurn();
  const count = order.length;
  const confidences = new Float64Array(count);
  const right = new Uint8Array(count);
  const trajectories = new Int32Array(count);
  const rightBefore = new Float64Array(count + 1);
  const confidenceBefore = new Float64Array(count + 1);
  let clusters = 0;
  for (let place = 0; place < count; place++) {
    const index = order[place] ?? 0;
    const confidence = judged.confidences[index] ?? 0;
    const isRight = judged.right[index] ?? 0;
    const trajectory = judged.trajectories[index] ?? 0;
    confidences[place] = confidence;
    right[place] = isRight;
    trajectories[place] = trajectory;
    rightBefore[place + 1] = (rightBefore[place] ?? 0) + isRight;
    confidenceBefore[place + 1] = (confidenceBefore[place] ?? 0) + confidence;
    clusters = Math.max(clusters, trajectory + 1);
  }
  await nextTurn();
  const ties = tiesOf(confidences);
  return { count, clusters, confidences, right, trajectories, ...ties, rightBefore, confidenceBefore };
}

/** The indexes by ascending confidence: put into ranges of confidences, and each range sorted. */
export async function orderOf(confidences: Float64Array): Promise<Int32Array> {
  const rangeOf = (index: number) => Math.min(ranges - 1, Math.floor((confidences[index] ?? 0) * ranges));
  const { members, starts } = groupBy(confidences.length, ranges, rangeOf);
  await nextTurn();
  let sorted = 0;
  for (let range = 0; range < ranges; range++) {
    const some = members.subarray(starts[range], starts[range + 1]);
    const first = confidences[some[0] ?? 0];
    if (some.some((index) => confidences[index] !== first))
      some.sort((a, b) => (confidences[a] ?? 0) - (confidences[b] ?? 0));
    sorted += some.length;
    if (sorted < placesAtOnce) continue;
    sorted = 0;
    await nextTurn();
  }
  return members;
}

function tiesOf(confidences: Float64Array): Pick<SortedConfidences, "tieStarts" | "tieEnds"> {
  const count = confidences.length;
  const tieStarts = new Int32Array(count);
  const tieEnds = new Int32Array(count);
  for (let place = 0; place < count; place++) {
    const isTied = place > 0 && confidences[place] === confidences[place - 1];
    tieStarts[place] = isTied ? (tieStarts[place - 1] ?? 0) : place;
  }
  for (let place = count - 1; place >= 0; place--) {
    const isTied = place < count - 1 && confidences[place] === confidences[place + 1];
    tieEnds[place] = isTied ? (tieEnds[place + 1] ?? 0) : place + 1;
  }
  return { tieStarts, tieEnds };
}

/** Numbers by group: those of a group from its start to the next one's, ascending. */
export interface Groups {
  members: Int32Array;
  starts: Int32Array;
}

function groupBy(count: number, groups: number, groupOf: (member: number) => number): Groups {
  const starts = new Int32Array(groups + 1);
  for (let member = 0; member < count; member++) {
    const next = groupOf(member) + 1;
    starts[next] = (starts[next] ?? 0) + 1;
  }
  for (let group = 0; group < groups; group++) {
    starts[group + 1] = (starts[group + 1] ?? 0) + (starts[group] ?? 0);
  }
  const members = new Int32Array(count);
  const next = starts.slice();
  for (let member = 0; member < count; member++) {
    const group = groupOf(member);
    const place = next[group] ?? 0;
    members[place] = member;
    next[group] = place + 1;
  }
  return { members, starts };
}

/** The places of each trajectory, or of as many trajectories together as make this many groups. */
export function placesToLeaveOut({ count, trajectories }: SortedConfidences, groups: number): Groups {
  return groupBy(count, groups, (place) => (trajectories[place] ?? 0) % groups);
}
