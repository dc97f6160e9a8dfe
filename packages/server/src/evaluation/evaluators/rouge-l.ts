import { z } from "zod";
import { defineFamily } from "./family.ts";
import { f1Score } from "./text/f1-score.ts";
import { lcsLength } from "./text/lcs-length.ts";
import { listItems } from "./text/list-items.ts";
import { countItems, subtract } from "./text/multiset.ts";

const config = z.strictObject({
  threshold: z.number().min(0).max(1).default(0.5).meta({ description: "The lowest F1 that passes." }),
});

/** Every word is a text of its own: at this length a quarter of a gigabyte of them. */
const maxCharacters = 4_000_000;

/** The sum of two lengths that takes a millisecond, most of it to find the words. */
const lightCharacters = 10_000;

// Google's rouge_score takes [a-z0-9]+ and so drops every other script; marks belong to the letters they stand on.
const word = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * ROUGE-L of Lin (2004) at the level of the whole text, with beta 1 and without stemming: F1 of the longest common
 * subsequence of words, in lower case.
 */
export const rougeL = defineFamily({
  kind: "rule",
  name: "rouge-l",
  description: "How far the words of the output and of the gold answer are the same, in the same order.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  maxCharacters,
  builtInProfiles: [{ name: "system:default", description: "An F1 of a half.", config: { threshold: 0.5 } }],
  isExpensive: ({ output = "", goldAnswer = "" }) => output.length + goldAnswer.length > lightCharacters,
  prepare({ threshold }) {
    return ({ output = "", goldAnswer = "" }) => {
      const said = wordsOf(output);
      const wanted = wordsOf(goldAnswer);
      const common = lcsLength(said, wanted);
      // Where there are no words, ROUGE-L says nothing: `[]` and `{}` differ all the same.
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
    ...(unwanted.size > 0 ? [`It has ${listItems(unwanted)}, which the gold answer has not.`] : []),
  ].join(" ");
}
