/** Code units of a text; `end` is exclusive. */
export interface Range {
  start: number;
  end: number;
}

/** Converts positions in code points to ranges of code units: ordered, within the text, and merged if they touch. */
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

/** Converts code point indexes to code unit indexes. Called in rising order, it reads the text once. */
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

/** The parts of the ranges inside `part`, relative to its start. */
export function clipRanges(ranges: readonly Range[], part: Range): Range[] {
  return ranges
    .filter(({ start, end }) => end > part.start && start < part.end)
    .map(({ start, end }) => ({
      start: Math.max(start, part.start) - part.start,
      end: Math.min(end, part.end) - part.start,
    }));
}
