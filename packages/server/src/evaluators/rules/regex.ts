import type { RE2JS } from "re2js";
import { z } from "zod";
import { compilePattern, estimateProgramSize, patternLibrary } from "../../platform/patterns.ts";
import { countOf, shortened } from "../../platform/words.ts";
import { defineFamily } from "../family.ts";
import type { Position, Verdict } from "../outcome.ts";
import { codePointPositions, strippedRange, stripTagsSetting } from "./text.ts";

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
    strip_tags: stripTagsSetting(false),
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
      const [from, to] = strippedRange(output, profile.strip_tags);
      const matches = findMatches(compiled, output.slice(from, to), profile.match);
      const positions = matches.map(([start, end]): Position => [from + start, from + end]);
      return judge(codePointPositions(output, positions), profile);
    };
  },
  estimateMs({ output = "" }, profile) {
    const programSize = estimateProgramSize(profile.pattern);
    const readings = readsAhead(profile) ? Math.min(maxPositions, output.length) : 1;
    return Math.max(programSize / cheapProgramSize, (programSize * output.length * readings) / cheapSteps);
  },
});

/** Whether each search may read far past the end of its match: because a part may repeat without end and a part may be absent. */
function readsAhead({ pattern, match }: Config): boolean {
  return match === "search" && /[*+]|,\}/.test(pattern) && /[*?|]|\{0/.test(pattern);
}

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
  const shown = shortened(pattern, 100);
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
