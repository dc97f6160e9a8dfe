import { z } from "zod";
import { defineFamily } from "../family.ts";
import { codePointPositions } from "./code-points.ts";
import { findSubstrings, type Occurrence } from "./find-substrings.ts";
import { endSentence } from "./list-items.ts";

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
  ignore_case: z.boolean().default(false).meta({ description: "Upper and lower case are the same." }),
});
type Config = z.output<typeof config>;

export const contains = defineFamily({
  kind: "rule",
  name: "contains",
  description: "The output contains all, any or none of a list of substrings.",
  versions: ["2026-11-21"],
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
      const { occurrences, found } = findSubstrings(output, wanted, profile.ignore_case, maxPositions);
      const score = scoreOf(profile.mode, found.size, wanted.length);
      const positions = codePointPositions(
        output,
        occurrences.map(({ start, end }) => [start, end]),
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
    return endSentence(`The output lacks ${list(missing.map(quote))}`);
  if (held.length === 0) return endSentence(`The output contains none of ${list(wanted.map(quote))}`);
  return endSentence(`The output contains ${list(held)}`);
}

function quote(substring: string): string {
  const shown = [...substring.slice(0, 80)].slice(0, 40).join("");
  return JSON.stringify(shown.length < substring.length ? `${shown}…` : shown);
}

function list(items: readonly string[]): string {
  const shown = items.slice(0, maxNamed).join(", ");
  return items.length > maxNamed ? `${shown} and ${items.length - maxNamed} more` : shown;
}
