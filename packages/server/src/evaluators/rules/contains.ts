import { z } from "zod";
import { andMore } from "../../platform/words.ts";
import { defineFamily } from "../family.ts";
import { codePointPositions, endSentence, quote, strippedRange, stripTagsSetting } from "./text.ts";

export interface Occurrence {
  substring: string;
  /** Offsets in UTF-16 units of the text. */
  start: number;
  end: number;
}

/** The first occurrences in the order of the text, and all substrings that were found. Occurrences of one substring do not overlap. */
function findSubstrings(
  text: string,
  substrings: readonly string[],
  ignoreCase: boolean,
  maxOccurrences: number,
): { occurrences: Occurrence[]; found: Set<string> } {
  const searched = ignoreCase ? foldCase(text) : text;
  const found = new Set<string>();
  const occurrences: Occurrence[] = [];
  for (const substring of substrings) {
    const sought = ignoreCase ? foldCase(substring) : substring;
    let start = searched.indexOf(sought);
    for (let count = 0; start >= 0 && count < maxOccurrences; count += 1) {
      found.add(substring);
      occurrences.push({ substring, start, end: start + sought.length });
      start = searched.indexOf(sought, start + sought.length);
    }
  }
  occurrences.sort((one, other) => one.start - other.start || one.end - other.end);
  return { occurrences: occurrences.slice(0, maxOccurrences), found };
}

/** Lower case and straight apostrophes, of the same length, so that positions stay correct: `İ`, which would become two characters, is left as it is. */
function foldCase(text: string): string {
  const lower = text.toLowerCase();
  const folded =
    lower.length === text.length
      ? lower
      : Array.from(text, (character) => {
          const one = character.toLowerCase();
          return one.length === character.length ? one : character;
        }).join("");
  // The lower case of a sigma depends on its place in the word, which a substring does not know.
  return folded.replaceAll("ς", "σ").replaceAll("’", "'");
}

const maxPositions = 1_000;
const maxSubstringLength = 10_000;
const maxNamed = 10;

const config = z.strictObject({
  substrings: z
    .array(z.string().min(1).max(maxSubstringLength))
    .min(1)
    .max(100)
    .meta({ description: "The texts to look for." }),
  mode: z
    .enum(["all", "any", "none"])
    .default("all")
    .meta({ description: "How many of the substrings the output must contain." }),
  ignore_case: z.boolean().default(false).meta({
    description:
      "Upper and lower case are the same, and so are straight and typographic apostrophes (' and ’).",
  }),
  strip_tags: stripTagsSetting(false),
});
type Config = z.output<typeof config>;

export const contains = defineFamily({
  kind: "rule",
  name: "contains",
  description: "The output contains all, any or none of a list of substrings.",
  versions: ["2026-11-30", "2026-11-21"],
  needs: ["output"],
  config,
  builtInProfiles: [
    {
      name: "system:default",
      description: "The output is not a refusal: it contains none of the usual phrases.",
      config: {
        substrings: ["I cannot", "I can't", "I'm sorry, but", "I am unable to", "I'm unable to", "As an AI"],
        mode: "none",
        ignore_case: true,
      },
    },
  ],
  prepare(profile) {
    const wanted = [...new Set(profile.substrings)];
    return ({ output = "" }) => {
      const [from, to] = strippedRange(output, profile.strip_tags);
      const text = output.slice(from, to);
      const { occurrences, found } = findSubstrings(text, wanted, profile.ignore_case, maxPositions);
      const score = scoreOf(profile.mode, found.size, wanted.length);
      const positions = codePointPositions(
        output,
        occurrences.map(({ start, end }) => [from + start, from + end]),
      );
      return {
        pass: score === 1,
        score,
        positions,
        explain: () =>
          describe(profile.mode, wanted, found, (substring) => {
            const first = occurrences.findIndex(
              (occurrence: Occurrence) => occurrence.substring === substring,
            );
            return positions[first]?.[0];
          }),
      };
    };
  },
  estimateMs: ({ output = "" }, { substrings }) => (output.length * substrings.length) / 2_000_000,
});

/** Only `all` has scores between 0 and 1: the share that was found. */
function scoreOf(mode: Config["mode"], found: number, wanted: number): number {
  if (mode === "all") return found / wanted;
  return found > 0 === (mode === "any") ? 1 : 0;
}

function describe(
  mode: Config["mode"],
  wanted: readonly string[],
  found: ReadonlySet<string>,
  firstPlace: (substring: string) => number | undefined,
): string {
  const missing = wanted.filter((substring) => !found.has(substring));
  const held = wanted
    .filter((substring) => found.has(substring))
    .map((substring) => {
      const place = firstPlace(substring);
      return place === undefined ? quote(substring) : `${quote(substring)} at character ${place}`;
    });
  if (mode === "none")
    return held.length === 0
      ? "The output contains none of the forbidden substrings."
      : endSentence(`The output contains forbidden substrings: ${list(held)}`);
  if (mode === "all" && missing.length > 0)
    return endSentence(`The output lacks ${list(missing.map((one) => quote(one)))}`);
  if (held.length === 0)
    return endSentence(`The output contains none of ${list(wanted.map((one) => quote(one)))}`);
  return endSentence(`The output contains ${list(held)}`);
}

function list(items: readonly string[]): string {
  return andMore(items.slice(0, maxNamed), items.length);
}
