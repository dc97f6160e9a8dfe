import { z } from "zod";
import { defineFamily } from "../family.ts";
import {
  comparedText,
  countItems,
  endSentence,
  listItems,
  overlapOf,
  splitWords,
  stripTagsSetting,
  subtract,
} from "./text.ts";

export interface F1Score {
  precision: number;
  recall: number;
  f1: number;
}

/** Precision and recall of the items in the output, and their harmonic mean. 0 if nothing is shared. */
export function f1Score(shared: number, said: number, wanted: number): F1Score {
  if (shared === 0) return { precision: 0, recall: 0, f1: 0 };
  return { precision: shared / said, recall: shared / wanted, f1: (2 * shared) / (said + wanted) };
}

const config = z.strictObject({
  threshold: z.number().min(0).max(1).default(0.5).meta({ description: "The lowest F1 that passes." }),
  normalisation: z.enum(["squad", "none"]).default("squad").meta({
    description:
      "`squad`: lower case, without ASCII punctuation and the articles a, an, the. `none`: tokens unchanged. Both split on white space.",
  }),
  strip_tags: stripTagsSetting(false),
});
type Config = z.output<typeof config>;

/** Each token becomes its own string: about 250 MB of strings at this length. */
const maxCharacters = 4_000_000;

/** Texts of this length together take about a millisecond. */
const cheapCharacters = 40_000;

const asciiPunctuation = /[!-/:-@[-`{-~]/g;
const article = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;

/** F1 over bags of tokens, as in the evaluation script of SQuAD (Rajpurkar et al. 2016). */
export const tokenF1 = defineFamily({
  kind: "rule",
  name: "token-f1",
  description: "How many words the output and the gold answer share, in any order.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  threshold: ({ threshold }) => threshold,
  maxCharacters,
  builtInProfiles: [
    {
      name: "system:default",
      description: "Half of the words, compared as SQuAD does.",
      config: { threshold: 0.5, normalisation: "squad" },
    },
  ],
  estimateMs: ({ output = "", goldAnswer = "" }) => (output.length + goldAnswer.length) / cheapCharacters,
  prepare({ threshold, normalisation, strip_tags }) {
    return ({ output = "", goldAnswer = "" }) => {
      const saidTokens = tokenise(comparedText(output, strip_tags), normalisation);
      const wantedTokens = tokenise(comparedText(goldAnswer, strip_tags), normalisation);
      const said = countItems(saidTokens);
      const wanted = countItems(wantedTokens);
      const isEmpty = saidTokens.length === 0 && wantedTokens.length === 0;
      const { precision, recall, f1 } = isEmpty
        ? { precision: 1, recall: 1, f1: 1 }
        : f1Score(overlapOf(said, wanted), saidTokens.length, wantedTokens.length);
      return {
        pass: f1 >= threshold,
        score: f1,
        extra: { precision, recall, output_tokens: saidTokens.length, gold_tokens: wantedTokens.length },
        explain() {
          const missing = subtract(wanted, said);
          const unwanted = subtract(said, wanted);
          if (missing.size + unwanted.size === 0) return "The output has the same tokens as the gold answer.";
          return [
            missing.size > 0
              ? endSentence(`The output lacks ${listItems(missing)}`)
              : "The output lacks nothing.",
            ...(unwanted.size > 0 ? [`It has ${listItems(unwanted)}, which the gold answer lacks.`] : []),
          ].join(" ");
        },
      };
    };
  },
});

function tokenise(text: string, normalisation: Config["normalisation"]): string[] {
  const normalised =
    normalisation === "none" ? text : text.toLowerCase().replace(asciiPunctuation, "").replace(article, " ");
  return splitWords(normalised);
}
