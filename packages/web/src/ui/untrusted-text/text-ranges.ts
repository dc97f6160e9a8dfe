// Parts of a text, which never split a character.

/** Code units of a text; `end` is exclusive. */
export interface Range {
  start: number;
  end: number;
}

/** Where to cut a text: at `index`, or just before it where that would split a surrogate pair. */
export function cutBefore(text: string, index: number): number {
  const isInside =
    (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800;
  return isInside ? index - 1 : index;
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

/** A line, or a part of a very long one. */
export interface TextRow extends Range {
  /** From 1; absent for later parts of a line. */
  line?: number;
}

/** Longer lines are split, so that the browser lays out only what it shows. */
const maxRow = 1_000;

export function textRows(text: string): TextRow[] {
  const rows: TextRow[] = [];
  let line = 0;
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    line += 1;
    pushLine(rows, text, { start, end, line });
    start = end + 1;
  }
  return rows;
}

function pushLine(rows: TextRow[], text: string, { start, end, line }: Required<TextRow>): void {
  let from = start;
  while (end - from > maxRow) {
    const cut = cutBefore(text, from + maxRow);
    rows.push(from === start ? { start: from, end: cut, line } : { start: from, end: cut });
    from = cut;
  }
  rows.push(from === start ? { start: from, end, line } : { start: from, end });
}
