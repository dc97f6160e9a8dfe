import { z } from "zod";
import type { Position } from "../evaluator-outcome.ts";
import { defineFamily } from "./family.ts";
import { type ChangeComparison, compareChanges, stateOverlap } from "./state/compare-changes.ts";
import { type ReadStates, readStates } from "./state/read-states.ts";
import { stateOfInput } from "./state/state-of-input.ts";
import { textLines } from "./state/text-lines.ts";
import { codePointPositions } from "./text/code-points.ts";
import { listItems } from "./text/list-items.ts";
import { type Multiset, subtract } from "./text/multiset.ts";
import { plainRange } from "./text/plain-output.ts";

const config = z.strictObject({
  threshold: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .meta({ description: "The lowest F1 of changes that passes." }),
});

/** Every line, or every field with its whole path, is a text of its own: at this length some 400 MB of them. */
const maxCharacters = 2_500_000;

/** The sum of the lengths that takes a millisecond. */
const lightCharacters = 10_000;
const maxPositions = 1_000;

/**
 * Of what really changed from the state in the input to the gold answer, how much the output got right.
 *
 * States are compared line by line, or field by field where the gold answer is a JSON object or list; reasoning and
 * the tags of a tool's answer are taken off first. In `extra`, beside the counts: `overlap`, how far the whole output
 * and the gold answer are the same, and `unchanged_baseline`, what a copy of the input would have for that. An output
 * whose overlap is not above the baseline tells no more than "nothing changed" does.
 */
export const stateChange = defineFamily({
  kind: "rule",
  name: "state-change",
  description: "The output changes the state of the input as the gold answer does.",
  versions: ["2026-11-21"],
  needs: ["input", "output", "goldAnswer"],
  config,
  maxCharacters,
  builtInProfiles: [
    {
      name: "system:default",
      description: "Every change is right, and nothing else changed.",
      config: { threshold: 1 },
    },
  ],
  isExpensive: ({ input = "", output = "", goldAnswer = "" }) =>
    input.length + output.length + goldAnswer.length > lightCharacters,
  prepare({ threshold }) {
    return ({ input = "", output = "", goldAnswer = "" }) => {
      const states = readStates({ before: stateOfInput(input), gold: goldAnswer, output });
      const changes = compareChanges(states);
      const score = states.outputFault === undefined ? changes.score : 0;
      const positions =
        states.comparedAs === "lines" ? placesOf(changes.invented, states.output, output) : [];
      return {
        pass: score >= threshold,
        score,
        ...(positions.length === 0 ? {} : { positions }),
        extra: {
          compared_as: states.comparedAs,
          changed: changes.changed,
          right: changes.right,
          missed: changes.missed,
          wrong: changes.wrong,
          overlap: stateOverlap(states.output, states.gold),
          unchanged_baseline: stateOverlap(states.before, states.gold),
        },
        explain: () => describe(states, changes),
      };
    };
  },
});

/** Where some of the output's lines stand in it, the first of them; of equal ones the last. */
function placesOf(wanted: Multiset, lines: Multiset, output: string): Position[] {
  const [start, end] = plainRange(output);
  const unwanted = new Map(subtract(lines, wanted));
  const ranges = textLines(output.slice(start, end))
    .filter(({ text }) => {
      const left = unwanted.get(text) ?? 0;
      unwanted.set(text, left - 1);
      return left <= 0;
    })
    .take(maxPositions)
    .map((line): Position => [start + line.start, start + line.end]);
  return codePointPositions(output, [...ranges]);
}

function describe(
  { comparedAs, outputFault }: ReadStates,
  { changed, right, missed, wrong, missing, stale, invented, dropped }: ChangeComparison,
): string {
  if (outputFault !== undefined) {
    return `The gold answer is JSON and the output is not: ${outputFault}.`;
  }
  if (changed + wrong === 0) return "Nothing changed, and the output says so.";
  const unit = comparedAs === "json" ? "Fields" : "Lines";
  return [
    changed === 0
      ? "Nothing changed, but the output differs from the state before."
      : `${unit} that changed: ${changed}. Changes in the output that are right: ${right}, wrong: ${wrong}, missed: ${missed}.`,
    ...(missing.size > 0 ? [`Missing: ${listItems(missing)}.`] : []),
    ...(stale.size > 0 ? [`Still there: ${listItems(stale)}.`] : []),
    ...(invented.size > 0 ? [`Never there: ${listItems(invented)}.`] : []),
    ...(dropped.size > 0 ? [`Gone from the output, but not from the state: ${listItems(dropped)}.`] : []),
  ].join(" ");
}
