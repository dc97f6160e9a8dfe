import type { RE2JS } from "re2js";

/** The library for patterns in linear time, 3 MB, loaded on first use. */
export function patternLibrary(): typeof import("re2js") {
  return require("re2js");
}

/** An atom, a group's bracket or a repetition, in RE2's syntax. */
const token =
  /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/y;

/**
 * Estimates from its text how many instructions a pattern compiles to: a pattern of a few hundred characters can take a million
 * of them, and compiling it hundreds of megabytes.
 */
export function estimateProgramSize(pattern: string): number {
  const open: { size: number; last: number }[] = [];
  let group = { size: 0, last: 0 };
  token.lastIndex = 0;
  for (let match = token.exec(pattern); match !== null; match = token.exec(pattern)) {
    const [text, min, max] = match;
    if (text === "(") {
      open.push(group);
      group = { size: 2, last: 0 };
    } else if (text === ")") {
      const { size } = group;
      const outer = open.pop() ?? { size: 0, last: 0 };
      group = { size: outer.size + size, last: size };
    } else if (min !== undefined) {
      const repeated = group.last * Number(max || min);
      group = { size: group.size - group.last + repeated, last: repeated };
    } else {
      // A class that is never closed makes the pattern invalid. Searching for its end at each bracket would take quadratic time.
      if (text === "[") return group.size;
      const size = text.startsWith("\\Q") ? text.length : 1;
      group = { size: group.size + size, last: size };
    }
  }
  return open.reduce((sum, { size }) => sum + size, group.size);
}

export const maxPatternLength = 4_000;
/** The worst program of this size reads about 10 KB a second: linear time, but it still needs a thread with a deadline. */
export const maxProgramSize = 10_000;

/** Compiles a pattern in RE2's syntax, to match in linear time. Throws an `Error` that says why it cannot. */
export function compilePattern(pattern: string, flags = 0): RE2JS {
  if (pattern.length > maxPatternLength)
    throw new Error(`the pattern is longer than ${maxPatternLength} characters`);
  if (estimateProgramSize(pattern) > maxProgramSize) throw tooLarge();
  const compiled = patternLibrary().RE2JS.compile(pattern, flags);
  if (compiled.programSize() > maxProgramSize) throw tooLarge();
  return compiled;
}

function tooLarge(): Error {
  return new Error(`the pattern repeats too much: it takes more than ${maxProgramSize} steps per character`);
}
