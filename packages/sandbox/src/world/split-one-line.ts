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
