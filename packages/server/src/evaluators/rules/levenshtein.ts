import { distance } from "fastest-levenshtein";
import { sharedEnds } from "./shared-ends.ts";

/** Edit distance and length of the longer text, in Unicode code points. */
export interface EditDistance {
  edits: number;
  longer: number;
}

const surrogate = /[\uD800-\uDFFF]/;
/** Units for characters that are in one text only; shared characters have the units between. */
const onlyInOne = 0;
const onlyInOther = 0xffff;
/** About six seconds of work. */
const maxProductOfLengths = 4e10;

/**
 * Insertions, deletions and substitutions from one text to the other. Undefined if that would take too long:
 * texts of 200,000 characters can still be compared, longer ones if they differ in one stretch only.
 */
export function countEdits(one: string, other: string): EditDistance | undefined {
  const units = surrogate.test(one) || surrogate.test(other) ? toUnits(one, other) : [one, other];
  const [left, right] = units ?? [];
  if (left === undefined || right === undefined) return undefined;
  const { prefix, suffix } = sharedEnds(left, right);
  const leftRest = left.slice(prefix, left.length - suffix);
  const rightRest = right.slice(prefix, right.length - suffix);
  if (leftRest.length * rightRest.length > maxProductOfLengths) return undefined;
  return { edits: distance(leftRest, rightRest), longer: Math.max(left.length, right.length) };
}

/** The library counts UTF-16 units, so each code point gets a unit of its own. No natural text needs more than there are. */
function toUnits(one: string, other: string): [string, string] | undefined {
  const oneCodePoints = [...one];
  const otherCodePoints = [...other];
  const inOther = new Set(otherCodePoints);
  const shared = [...new Set(oneCodePoints)].filter((codePoint) => inOther.has(codePoint));
  if (shared.length >= onlyInOther) return undefined;
  const unitOf = new Map(shared.map((codePoint, index) => [codePoint, index + 1]));
  const translate = (codePoints: readonly string[], unshared: number) =>
    codePoints.map((codePoint) => String.fromCharCode(unitOf.get(codePoint) ?? unshared)).join("");
  return [translate(oneCodePoints, onlyInOne), translate(otherCodePoints, onlyInOther)];
}
