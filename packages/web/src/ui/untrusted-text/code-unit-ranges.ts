/** From the first of a text's code units to the one after the last. */
export interface Range {
  start: number;
  end: number;
}

/** Positions in code points as ranges of the text's code units: in order, within the text, and those that touch as one. */
export function codeUnitRanges(text: string, positions: readonly (readonly [number, number])[]): Range[] {
  const ordered = positions.filter(([start, end]) => end > start).sort(([one], [other]) => one - other);
  const toUnit = createCodePointReader(text);
  const ranges: Range[] = [];
  for (const [startPoint, endPoint] of mergeTouching(ordered)) {
    const start = toUnit(startPoint);
    const end = toUnit(endPoint);
    if (end > start) ranges.push({ start, end });
  }
  return ranges;
}

function mergeTouching(ordered: readonly (readonly [number, number])[]): [number, number][] {
  const merged: [number, number][] = [];
  for (const [start, end] of ordered) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

/** Where a code point begins; asked for in rising order, it reads the text once. */
function createCodePointReader(text: string): (point: number) => number {
  let unit = 0;
  let reached = 0;
  return (point) => {
    while (reached < point && unit < text.length) {
      unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
      reached += 1;
    }
    return unit;
  };
}

/** What lies of the ranges within a part of the text, counted from the part's beginning. */
export function clipRanges(ranges: readonly Range[], part: Range): Range[] {
  return ranges
    .filter(({ start, end }) => end > part.start && start < part.end)
    .map(({ start, end }) => ({
      start: Math.max(start, part.start) - part.start,
      end: Math.min(end, part.end) - part.start,
    }));
}
