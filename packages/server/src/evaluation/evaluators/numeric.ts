import { z } from "zod";
import { type RuleFamily, UnusableSampleError } from "./family.ts";
import { codePointPositions } from "./text/code-points.ts";
import { type FoundNumber, readNumbers } from "./text/read-numbers.ts";

const config = z.strictObject({
  absolute_tolerance: z.number().min(0).default(0),
  relative_tolerance: z
    .number()
    .min(0)
    .default(1e-9)
    .meta({ description: "Share of the gold number. The wider of the two tolerances counts." }),
  compare: z
    .enum(["all", "last"])
    .default("all")
    .meta({ description: "`all`: as many numbers, in the same order. `last`: the last one of each." }),
});
type Config = z.output<typeof config>;

interface Pair {
  said: FoundNumber | undefined;
  wanted: FoundNumber | undefined;
}

/** The sum of two lengths that takes a millisecond. */
const lightCharacters = 10_000;
const shownPairs = 5;

export const numeric: RuleFamily<Config> = {
  kind: "rule",
  name: "numeric",
  description: "The numbers of the output are those of the gold answer, within a tolerance.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  systemProfiles: [
    {
      name: "system:default",
      description: "All numbers, in order, but for rounding in the ninth place.",
      config: { absolute_tolerance: 0, relative_tolerance: 1e-9, compare: "all" },
    },
  ],
  isHeavy: ({ output = "", goldAnswer = "" }) => output.length + goldAnswer.length > lightCharacters,
  prepare(profile) {
    return ({ output = "", goldAnswer = "" }) => {
      const wanted = numbersOf(goldAnswer, profile);
      if (wanted.length === 0) throw new UnusableSampleError("The gold answer has no number.");
      const said = numbersOf(output, profile);
      const pairs = Array.from({ length: Math.max(said.length, wanted.length) }, (_, index) => ({
        said: said[index],
        wanted: wanted[index],
      }));
      const wrong = pairs.filter((pair) => !isRight(pair, profile));
      const wrongInOutput = wrong.flatMap((pair) => pair.said ?? []);
      const positions = codePointPositions(
        output,
        wrongInOutput.map(({ start, end }) => [start, end]),
      );
      return {
        pass: wrong.length === 0,
        score: (pairs.length - wrong.length) / pairs.length,
        ...(positions.length === 0 ? {} : { positions }),
        extra: { output_numbers: said.length, gold_numbers: wanted.length, wrong: wrong.length },
        explain: () => describe(pairs, wrong),
      };
    };
  },
};

function numbersOf(text: string, { compare }: Config): FoundNumber[] {
  const numbers = readNumbers(text);
  return compare === "last" ? numbers.slice(-1) : numbers;
}

function isRight({ said, wanted }: Pair, { absolute_tolerance, relative_tolerance }: Config): boolean {
  if (said === undefined || wanted === undefined) return false;
  if (said.value === wanted.value) return true;
  const tolerance = Math.max(absolute_tolerance, relative_tolerance * Math.abs(wanted.value));
  // Beyond 1e308 there is nothing to measure with.
  return Number.isFinite(wanted.value) && Math.abs(said.value - wanted.value) <= tolerance;
}

function describe(pairs: readonly Pair[], wrong: readonly Pair[]): string {
  if (wrong.length === 0) return `All numbers agree (${pairs.length}).`;
  const shown = wrong.slice(0, shownPairs).map((pair) => {
    const place = `Number ${pairs.indexOf(pair) + 1}`;
    if (pair.said === undefined) return `${place} is missing: the gold answer has ${pair.wanted?.value}.`;
    if (pair.wanted === undefined) return `${place}, ${pair.said.value}, is not in the gold answer.`;
    return `${place} is ${pair.said.value}, the gold answer has ${pair.wanted.value}.`;
  });
  const rest = wrong.length > shownPairs ? ` ${wrong.length - shownPairs} more differ.` : "";
  return shown.join(" ") + rest;
}
