/** A text after an edit, and its selection. */
export interface Edit {
  text: string;
  start: number;
  end: number;
}

const step = "  ";

/** Inserts a line break that keeps the indentation. */
export function continueLine(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const [indent = ""] = /^[ \t]*/.exec(text.slice(lineStart, start)) ?? [];
  const caret = start + 1 + indent.length;
  return { text: `${text.slice(0, start)}\n${indent}${text.slice(end)}`, start: caret, end: caret };
}

/** Indents or outdents all lines of a selection. */
export function shiftLines(text: string, start: number, end: number, direction: "in" | "out"): Edit {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const nextBreak = text.indexOf("\n", end);
  const to = nextBreak === -1 ? text.length : nextBreak;
  const lines = text.slice(from, to).split("\n");
  const shifted = lines.map((line) => (direction === "in" ? step + line : line.replace(/^( {1,2}|\t)/, "")));
  const moved = shifted.join("\n");
  const ofFirst = (shifted[0]?.length ?? 0) - (lines[0]?.length ?? 0);
  return {
    text: text.slice(0, from) + moved + text.slice(to),
    start: Math.max(from, start + ofFirst),
    end: Math.max(from, end + moved.length - (to - from)),
  };
}
