import { DatasetChange } from "@presage/contract";
import { z } from "zod";
import { countOf } from "../../platform/count-of.ts";
import type { Position } from "../evaluator-outcome.ts";
import { defineFamily } from "../family.ts";
import { codePointPositions } from "./code-points.ts";
import { type ChangeComparison, compareChanges, stateOverlap } from "./compare-changes.ts";
import { endSentence, listItems } from "./list-items.ts";
import { type Multiset, subtract } from "./multiset.ts";
import { plainRange } from "./plain-output.ts";
import { createStateReader, type ReadStates, stateOfInput } from "./read-states.ts";
import { textLines } from "./text-lines.ts";

const config = z.strictObject({
  threshold: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .meta({ description: "The lowest F1 of changes that passes." }),
  change: DatasetChange.nullish().meta({ description: "What of JSON states counts, if not all of it." }),
});

/** Each line, or each field with its whole path, becomes a string of its own: about 400 MB of them at this length. */
const maxCharacters = 2_500_000;

/** Texts of this length together take about a millisecond. */
const cheapCharacters = 10_000;
const maxPositions = 1_000;

const listFormat = new Intl.ListFormat("en-GB");

/**
 * How much of the actual change from the state in the input to the gold answer the output got right.
 *
 * States are compared line by line, or field by field where the gold answer is a JSON object or list; reasoning and
 * `<tool_response>` tags are removed first. Besides counts, `extra` has `overlap`, the similarity of the whole output and the
 * gold answer, and `unchanged_baseline`, the overlap that a copy of the input would have. An output whose overlap is not above
 * the baseline is no better than "nothing changed".
 */
export const stateChange = defineFamily({
  kind: "rule",
  name: "state-change",
  description: "The output changes the state of the input as the gold answer does.",
  versions: ["2026-11-21"],
  needs: ["input", "output", "goldAnswer"],
  config,
  threshold: ({ threshold }) => threshold,
  maxCharacters,
  builtInProfiles: [
    {
      name: "system:default",
      description: "Every change is right, and nothing else changed.",
      config: { threshold: 1 },
    },
  ],
  estimateMs: ({ input = "", output = "", goldAnswer = "" }) =>
    (input.length + output.length + goldAnswer.length) / cheapCharacters,
  prepare({ threshold, change }) {
    const readStates = createStateReader(change ?? undefined);
    return ({ input = "", output = "", goldAnswer = "" }) => {
      const states = readStates({ before: stateOfInput(input), gold: goldAnswer, output });
      const changes = compareChanges(states);
      const score = states.outputIssue === undefined ? changes.score : 0;
      const positions =
        states.comparedAs === "lines" ? placesOf(changes.invented, states.output, output) : [];
      return {
        pass: score >= threshold,
        score,
        positions: positions.length === 0 ? undefined : positions,
        extra: {
          compared_as: states.comparedAs,
          changed: changes.changed,
          ...(states.gameChanges !== undefined && { llm_sim_changes: states.gameChanges }),
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

/** The positions of the first of some lines in the output; of equal lines the last. */
function placesOf(wanted: Multiset, lines: Multiset, output: string): Position[] {
  if (wanted.size === 0) return [];
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
  { comparedAs, outputIssue }: ReadStates,
  { changed, right, missed, wrong, missing, stale, invented, dropped }: ChangeComparison,
): string {
  if (outputIssue !== undefined) return outputIssue();
  const changes = countOf(changed, comparedAs === "json" ? "field" : "line");
  if (changed + wrong === 0) return "Nothing changed, and the output says so.";
  if (missed + wrong === 0) {
    return `${changes} changed, and the output has ${changed === 1 ? "it" : "them"} right.`;
  }
  const found = [
    `gets ${right} right`,
    ...(missed > 0 ? [`misses ${missed}`] : []),
    ...(wrong > 0 ? [`gets ${wrong} wrong`] : []),
  ];
  return [
    changed === 0
      ? "Nothing changed, but the output differs from the state before."
      : `${changes} changed; the output ${listFormat.format(found)}.`,
    ...(missing.size > 0 ? [endSentence(`Missing: ${listItems(missing)}`)] : []),
    ...(stale.size > 0 ? [endSentence(`Still there: ${listItems(stale)}`)] : []),
    ...(invented.size > 0 ? [endSentence(`Invented: ${listItems(invented)}`)] : []),
    ...(dropped.size > 0 ? [endSentence(`Lost, although unchanged: ${listItems(dropped)}`)] : []),
  ].join(" ");
}
