import type { Position } from "../evaluator-outcome.ts";

/** Translates offsets of a text from UTF-16 units, in which JavaScript counts, to Unicode code points. */
export function codePointPositions(text: string, ranges: readonly Position[]): Position[] {
  const offsets = [...new Set(ranges.flat())].sort((a, b) => a - b);
  const codePoints = new Map<number, number>();
  let unit = 0;
  let count = 0;
  for (const offset of offsets) {
    while (unit < offset) {
      unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
      count += 1;
    }
    codePoints.set(offset, count);
  }
  const at = (offset: number) => codePoints.get(offset) ?? offset;
  return ranges.map(([start, end]) => [at(start), at(end)]);
}
