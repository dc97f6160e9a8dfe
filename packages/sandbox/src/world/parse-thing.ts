import { type Contents, listNames, type Thing } from "./thing.ts";

/** Deeper nesting, which real worlds do not have, is kept as plain text, so that no input can exhaust the stack. */
const maxDepth = 8;

/** Text that can follow a thing's name. */
const nameEnds = [
  ", which is ",
  ", currently ",
  ", with: ",
  " (containing ",
  " (that ",
  " approximately ",
  ".",
];

/** Reads one description, such as "a oven, which is turned off. The oven door is closed." */
export function parseThing(description: string, depth = 0): Thing {
  const phraseEnd = firstIndexOf(description, nameEnds);
  const phrase = description.slice(0, phraseEnd);
  const thing: Thing = { phrase, names: listNames(phrase), remark: "" };
  let rest = description.slice(phraseEnd);

  const status = /^, which is ([a-z ]{1,40})/.exec(rest);
  if (status?.[1] !== undefined) {
    thing.status = status[1];
    rest = rest.slice(status[0].length);
  }
  const door = /^\. The [^.]{1,80} door is (open|closed)(?=\.)/.exec(rest);
  if (door !== null) {
    thing.door = door[1] === "open" ? "open" : "closed";
    rest = rest.slice(door[0].length);
  }
  const contents = depth < maxDepth ? parseContents(rest, depth + 1) : undefined;
  if (contents === undefined) thing.remark = rest;
  else thing.contents = contents;
  return thing;
}

function parseContents(text: string, depth: number): Contents | undefined {
  const opening = /^ \((containing) |^, (with): |^\. (In|On) the [^.]{1,80}? is: /.exec(text);
  if (opening === null) return undefined;
  const manner = (opening[1] ?? opening[2] ?? opening[3]) as Contents["manner"];
  const closing = manner === "containing" ? ")" : manner === "with" ? "" : ".";
  if (!text.endsWith(closing)) return undefined;
  const list = text.slice(opening[0].length, text.length - closing.length);
  return { manner, things: list === "nothing" ? [] : splitList(list).map((item) => parseThing(item, depth)) };
}

/** Cuts "a bowl (containing a fig, a pear), a lamp, which is off" at the commas between things. */
function splitList(list: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (const mark of list.matchAll(/[()]|, (?!which is |currently |with: )/g)) {
    if (mark[0] === "(") depth += 1;
    else if (mark[0] === ")") depth -= 1;
    else if (depth === 0) {
      items.push(list.slice(start, mark.index));
      start = mark.index + mark[0].length;
    }
  }
  return [...items, list.slice(start)];
}

function firstIndexOf(text: string, marks: readonly string[]): number {
  const found = marks.map((mark) => text.indexOf(mark)).filter((index) => index >= 0);
  return Math.min(text.length, ...found);
}

/** After these words, an article continues the same thing: "with a paper surface", "reading a temperature". */
const linkingWords = new Set([
  "In",
  "On",
  "at",
  "by",
  "called",
  "down",
  "in",
  "of",
  "on",
  "reading",
  "to",
  "with",
  "with:",
  "is:",
  "see:",
]);

/**
 * Splits "a lamp a table. On the table is: a cup, a fork. the ground" into its things. Only an article marks the start
 * of a thing, so every article counts except in brackets, after a comma or after a linking word.
 */
export function splitOneLine(line: string): string[] {
  const things: string[] = [];
  let depth = 0;
  let start = 0;
  let wordStart = 0;
  for (const mark of line.matchAll(/[()]| (an? |A |the )?/g)) {
    if (mark[0] === "(") depth += 1;
    else if (mark[0] === ")") depth -= 1;
    else {
      const word = line.slice(wordStart, mark.index);
      wordStart = mark.index + mark[0].length;
      if (depth > 0 || mark[1] === undefined || word.endsWith(",") || linkingWords.has(word)) continue;
      things.push(line.slice(start, mark.index));
      start = mark.index + 1;
    }
  }
  return [...things, line.slice(start)];
}
