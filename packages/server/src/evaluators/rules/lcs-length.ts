import { addToken, emptyRow, findOccurrences, type LcsRow } from "./lcs-row.ts";
import { sharedEnds } from "./shared-ends.ts";

/** Length of the longest common subsequence. It needs memory for the shorter text only. */
export function lcsLength(one: readonly string[], other: readonly string[]): number {
  const { prefix, suffix } = sharedEnds(one, other);
  const oneRest = one.slice(prefix, one.length - suffix);
  const otherRest = other.slice(prefix, other.length - suffix);
  const [shorter, longer] = oneRest.length < otherRest.length ? [oneRest, otherRest] : [otherRest, oneRest];
  const occurrences = findOccurrences(shorter);
  const row = emptyRow(shorter.length);
  for (const token of longer) {
    const found = occurrences.get(token);
    if (found !== undefined) addToken(row, found);
  }
  return prefix + suffix + countZeros(row);
}

function countZeros(row: LcsRow): number {
  let zeros = 0;
  for (const word of row) {
    for (let rest = ~word >>> 0; rest !== 0; rest = (rest & (rest - 1)) >>> 0) zeros += 1;
  }
  return zeros;
}
