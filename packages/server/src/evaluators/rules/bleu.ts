import { z } from "zod";
import { countOf } from "../../platform/words.ts";
import { defineFamily } from "../family.ts";
import { comparedText, countItems, overlapOf, splitWords, stripTagsSetting, trimPythonEnd } from "./text.ts";

const maxOrder = 4;

/**
 * How an n-gram precision of 0 is smoothed, which would make the whole score 0.
 * - `none`: nothing, as Papineni et al. (2002).
 * - `add-one`: 1 is added to both counts from bigrams on (Lin and Och 2004; method 2 of NLTK).
 * - `exp`: the first such precision becomes 1/2 of one match, the next 1/4, and so on (mteval-v13a; sacrebleu).
 */
export type BleuSmoothing = "none" | "add-one" | "exp";

export interface BleuScore {
  score: number;
  /** The precisions of unigrams, bigrams and so on, after smoothing. N-grams longer than the output are left out. */
  precisions: number[];
  brevityPenalty: number;
}

/** BLEU-4 of one text against one reference. */
export function bleuScore(
  said: readonly string[],
  wanted: readonly string[],
  smoothing: BleuSmoothing,
): BleuScore {
  const orders = Array.from({ length: Math.min(maxOrder, said.length) }, (_, index) => index + 1);
  const matches = orders.map((n) => overlapOf(countItems(nGrams(said, n)), countItems(nGrams(wanted, n))));
  const brevityPenalty = brevityPenaltyOf(said.length, wanted.length);
  // No smoothing helps a text that shares no word.
  if (orders.length === 0 || matches[0] === 0)
    return { score: 0, precisions: orders.map(() => 0), brevityPenalty };
  let halvings = 0;
  const precisions = matches.map((matched, index) => {
    const total = said.length - index;
    if (smoothing === "add-one" && index > 0) return (matched + 1) / (total + 1);
    if (smoothing === "exp" && matched === 0) {
      halvings += 1;
      return 1 / (2 ** halvings * total);
    }
    return matched / total;
  });
  const meanLog = precisions.reduce((sum, precision) => sum + Math.log(precision), 0) / precisions.length;
  return { score: brevityPenalty * Math.exp(meanLog), precisions, brevityPenalty };
}

function brevityPenaltyOf(said: number, wanted: number): number {
  if (said >= wanted) return 1;
  return said === 0 ? 0 : Math.exp(1 - wanted / said);
}

/** Runs of n tokens, one after another. Tokens contain no spaces, so a space can separate them. */
function* nGrams(tokens: readonly string[], n: number): Generator<string> {
  for (let start = 0; start + n <= tokens.length; start += 1) {
    yield tokens.slice(start, start + n).join(" ");
  }
}

/** ASCII punctuation except the four marks that may belong to a word or a number: `'`, `,`, `-`, `.`. */
const symbol = /[!-&(-+/:-@[-`{-~]/g;

/** Splits a text as `mteval-v13a` does, the script behind the BLEU scores of WMT and of sacrebleu. */
export function tokenise13a(text: string): string[] {
  const line = trimPythonEnd(text)
    .replaceAll("<skipped>", "")
    .replaceAll("-\n", "")
    .replaceAll("\n", " ")
    // One after the other, so that entities created by a replacement are decoded too.
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
  const spaced = ` ${line} `
    .replace(symbol, " $& ")
    .replace(/([^0-9])([.,])/g, "$1 $2 ")
    .replace(/([.,])([^0-9])/g, " $1 $2")
    .replace(/([0-9])(-)/g, "$1 $2 ");
  return splitWords(spaced);
}

const config = z.strictObject({
  threshold: z.number().min(0).max(1).default(0.5).meta({ description: "The lowest score that passes." }),
  smoothing: z.enum(["none", "add-one", "exp"]).default("exp").meta({
    description: "How n-grams without a match are smoothed. `exp` is sacrebleu's default.",
  }),
  tokenisation: z.enum(["13a", "whitespace"]).default("13a").meta({
    description: "`13a` splits punctuation off, as WMT and sacrebleu do.",
  }),
  strip_tags: stripTagsSetting(false),
});

/** Each run of one to four words becomes its own string: about 300 MB of strings at this length. */
const maxCharacters = 2_500_000;

/** Texts of this length together take about a millisecond. */
const cheapCharacters = 4_000;

const orderNames = ["words", "word pairs", "runs of 3 words", "runs of 4 words"];

/**
 * BLEU-4 with its brevity penalty (Papineni et al. 2002), from 0 to 1, case-sensitive. As in sacrebleu's
 * `sentence_bleu`, an output of fewer than four tokens is scored by the n-grams that it can have.
 */
export const bleu = defineFamily({
  kind: "rule",
  name: "bleu",
  description: "The share of the output's runs of one to four words that are in the gold answer.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  threshold: ({ threshold }) => threshold,
  maxCharacters,
  builtInProfiles: [
    {
      name: "system:default",
      description: "A sentence BLEU of at least 0.5, as sacrebleu computes it.",
      config: { threshold: 0.5, smoothing: "exp", tokenisation: "13a" },
    },
  ],
  estimateMs: ({ output = "", goldAnswer = "" }) => (output.length + goldAnswer.length) / cheapCharacters,
  prepare({ threshold, smoothing, tokenisation, strip_tags }) {
    const tokenise = tokenisation === "13a" ? tokenise13a : splitWords;
    return ({ output = "", goldAnswer = "" }) => {
      const said = tokenise(comparedText(output, strip_tags));
      const wanted = tokenise(comparedText(goldAnswer, strip_tags));
      const isEmpty = said.length === 0 && wanted.length === 0;
      const { score, precisions, brevityPenalty } = isEmpty
        ? { score: 1, precisions: [], brevityPenalty: 1 }
        : bleuScore(said, wanted, smoothing);
      return {
        pass: score >= threshold,
        score: Math.min(1, score),
        extra: {
          precisions,
          brevity_penalty: brevityPenalty,
          output_tokens: said.length,
          gold_tokens: wanted.length,
        },
        explain: () => describe(precisions, brevityPenalty, said.length, wanted.length),
      };
    };
  },
});

function describe(
  precisions: readonly number[],
  brevityPenalty: number,
  saidTokens: number,
  wantedTokens: number,
): string {
  if (saidTokens === 0) {
    return wantedTokens === 0 ? "The output and the gold answer are empty." : "The output is empty.";
  }
  if (precisions[0] === 0) return "No word is in the gold answer.";
  if (brevityPenalty === 1 && precisions.every((precision) => precision === 1)) {
    return "Every run of one to four words is in the gold answer.";
  }
  const lowest = precisions.indexOf(Math.min(...precisions));
  const shares = precisions
    .map((precision, index) => `${index + 1}-grams ${toPercent(precision)}`)
    .join(", ");
  const found = `Precisions after smoothing: ${shares}.`;
  const weakest =
    precisions.length === 1 || precisions[lowest] === 1
      ? ""
      : ` The lowest is that of ${orderNames[lowest]}.`;
  const brevity =
    brevityPenalty === 1
      ? ""
      : ` With ${countOf(saidTokens, "token")} for ${wantedTokens} the output is too short, which costs a factor of ${brevityPenalty.toFixed(3)}.`;
  return found + weakest + brevity;
}

function toPercent(share = 0): string {
  return `${Number((100 * share).toFixed(1))} %`;
}
