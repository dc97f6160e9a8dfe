import type { RE2JS } from "re2js";
import { patternLibrary } from "../../platform/lazy-libraries.ts";
import { estimateProgramSize } from "./estimate-program-size.ts";

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
