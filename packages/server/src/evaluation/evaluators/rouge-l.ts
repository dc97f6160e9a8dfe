import { z } from "zod";
import { defineFamily } from "./family.ts";
import { f1Score } from "./text/f1-score.ts";
import { lcsLength } from "./text/lcs-length.ts";
import { listItems } from "./text/list-items.ts";
import { countItems, subtract } from "./text/multiset.ts";

const config = z.strictObject({
  threshold: z.number().min(0).max(1).default(0.5).meta({ description: "The lowest F1 that passes." }),
});

/** Each word becomes a string of its own: about 250 MB of them at this length. */
const maxCharacters = 4_000_000;

/** Texts of this length together take about a millisecond, most of it to find the words. */
const cheapCharacters = 10_000;

// Google's rouge_score matches [a-z0-9]+ and so drops every other script. Combining marks belong to their letters.
const word = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * ROUGE-L of Lin (2004) at the level of the whole text, with beta 1 and without stemming: F1 of the longest common
 * subsequence of words, in lower case.
 */
export const rougeL = defineFamily({
  kind: "rule",
  name: "rouge-l",
  description: "How many words the output and the gold answer share in the same order.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  maxCharacters,
  builtInProfiles: [
    { name: "system:default", description: "An F1 of at least 0.5.", config: { threshold: 0.5 } },
  ],
  isExpensive: ({ output = "", goldAnswer = "" }) => output.length + goldAnswer.length > cheapCharacters,
  prepare({ threshold }) {
    return ({ output = "", goldAnswer = "" }) => {
      const said = wordsOf(output);
      const wanted = wordsOf(goldAnswer);
      const common = lcsLength(said, wanted);
      // Without words ROUGE-L is undefined, but `[]` and `{}` still differ.
      const isWordless = said.length === 0 && wanted.length === 0 && output.trim() === goldAnswer.trim();
      const { precision, recall, f1 } = isWordless
        ? { precision: 1, recall: 1, f1: 1 }
        : f1Score(common, said.length, wanted.length);
      return {
        pass: f1 >= threshold,
        score: f1,
        extra: {
          precision,
          recall,
          common_words: common,
          output_words: said.length,
          gold_words: wanted.length,
        },
        explain: () => describe(said, wanted, common),
      };
    };
  },
});

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(word) ?? [];
}

function describe(said: readonly string[], wanted: readonly string[], common: number): string {
  const shared = `Words in common, in the same order: ${common}, of ${said.length} in the output and ${wanted.length} in the gold answer.`;
  const missing = subtract(countItems(wanted), countItems(said));
  const unwanted = subtract(countItems(said), countItems(wanted));
  if (missing.size + unwanted.size === 0) {
    return common === wanted.length ? shared : `${shared} Only the order differs.`;
  }
  return [
    shared,
    ...(missing.size > 0 ? [`The output lacks ${listItems(missing)}.`] : []),
    ...(unwanted.size > 0 ? [`It has ${listItems(unwanted)}, which the gold answer lacks.`] : []),
  ].join(" ");
}
