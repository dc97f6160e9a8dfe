import type { RE2JS } from "re2js";
import { z } from "zod";
import { patternLibrary } from "../../platform/lazy-libraries.ts";
import { countOf } from "../../platform/words.ts";
import { defineFamily } from "../family.ts";
import type { Position, Verdict } from "../outcome.ts";
import { codePointPositions, cutText } from "./text.ts";

/** An atom, a group's bracket or a repetition, in RE2's syntax. */
const token =
  /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/y;

/**
 * About how many instructions a pattern compiles to, from its text alone: a pattern of a few hundred characters can take a
 * million of them, and compiling it hundreds of megabytes.
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
      // A class that is never closed is no pattern. Looking for its end at each bracket would take quadratic time.
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

/** Few, since each search may read to the end of the text. */
const maxPositions = 100;
const cheapProgramSize = 1_000;
const cheapSteps = 100_000;

const config = z
  .strictObject({
    pattern: z.string().min(1).meta({
      description: "In RE2's syntax, which has neither look-around nor back references.",
    }),
    ignore_case: z.boolean().default(false).meta({ description: "Upper and lower case are the same." }),
    multiline: z
      .boolean()
      .default(false)
      .meta({ description: "`^` and `$` match at the ends of each line." }),
    dot_all: z.boolean().default(false).meta({ description: "`.` matches line ends too." }),
    match: z
      .enum(["search", "full"])
      .default("search")
      .meta({ description: "Whether a part of the output may match, or all of it must." }),
    expect: z
      .enum(["match", "no_match"])
      .default("match")
      .meta({ description: "Whether an output with a match passes, or one without." }),
  })
  .superRefine((profile, context) => {
    try {
      compile(profile);
    } catch (error) {
      context.addIssue({ code: "custom", path: ["pattern"], message: (error as Error).message });
    }
  });
type Config = z.output<typeof config>;

export const regex = defineFamily({
  kind: "rule",
  name: "regex",
  description: "The output matches a pattern, or does not.",
  versions: ["2026-11-21"],
  needs: ["output"],
  config,
  builtInProfiles: [
    {
      name: "system:default",
      description: "The output is not blank.",
      config: {
        pattern: "[^\\s\\pZ]",
        ignore_case: false,
        multiline: false,
        dot_all: false,
        match: "search",
        expect: "match",
      },
    },
  ],
  prepare(profile) {
    let compiled: RE2JS | undefined;
    return ({ output = "" }) => {
      // Compiled for the first sample, which may run in another thread.
      compiled ??= compile(profile);
      const matches = findMatches(compiled, output, profile.match);
      return judge(codePointPositions(output, matches), profile);
    };
  },
  estimateMs({ output = "" }, { pattern }) {
    const programSize = estimateProgramSize(pattern);
    return Math.max(programSize / cheapProgramSize, (programSize * output.length) / cheapSteps);
  },
});

function compile({ pattern, ignore_case, multiline, dot_all }: Config): RE2JS {
  const { RE2JS } = patternLibrary();
  const flags =
    (ignore_case ? RE2JS.CASE_INSENSITIVE : 0) |
    (multiline ? RE2JS.MULTILINE : 0) |
    (dot_all ? RE2JS.DOTALL : 0);
  return compilePattern(pattern, flags);
}

function findMatches(compiled: RE2JS, output: string, match: Config["match"]): Position[] {
  const matcher = compiled.matcher(output);
  if (match === "full") return matcher.matches() ? [[0, output.length]] : [];
  const matches: Position[] = [];
  while (matches.length < maxPositions && matcher.find()) matches.push([matcher.start(), matcher.end()]);
  return matches;
}

function judge(positions: Position[], profile: Config): Verdict {
  const pass = positions.length > 0 === (profile.expect === "match");
  return { pass, score: pass ? 1 : 0, positions, explain: () => describe(positions, profile) };
}

function describe(positions: readonly Position[], { match, pattern }: Config): string {
  const shown = cutText(pattern, 100);
  const [first] = positions;
  if (match === "full")
    return first === undefined
      ? `The output as a whole does not match /${shown}/.`
      : `The output as a whole matches /${shown}/.`;
  if (first === undefined) return `Nothing in the output matches /${shown}/.`;
  const others = positions.length - 1;
  const atLeast = positions.length === maxPositions ? "at least " : "";
  const elsewhere = others > 0 ? `, and at ${atLeast}${countOf(others, "other place")}` : "";
  return `/${shown}/ matches from character ${first[0]} to ${first[1]}${elsewhere}.`;
}
