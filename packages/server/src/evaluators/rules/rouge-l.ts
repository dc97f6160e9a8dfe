import { z } from "zod";
import { NotApplicableError, UnusableSampleError } from "../evaluation-error.ts";
import { defineFamily } from "../family.ts";
import { type F1Score, f1Score } from "./f1-score.ts";
import { lcsLength } from "./lcs-length.ts";
import { endSentence, listItems } from "./list-items.ts";
import { countItems, subtract } from "./multiset.ts";
import { comparedText, stripTagsSetting } from "./plain-output.ts";
import { pltrdyCells, pltrdyWords } from "./pltrdy-words.ts";

const config = z.strictObject({
  threshold: z.number().min(0).max(1).default(0.5).meta({ description: "The lowest F1 that passes." }),
  variant: z.enum(["lin", "pltrdy"]).default("lin").meta({
    description:
      "`lin`: the words of the whole text in order, as Lin (2004) and Google's `rouge_score` count them. `pltrdy`: as the Python package `rouge` does, to compare with papers that used it. It is weaker: each distinct word counts once, sentences may come in any order, case and commas count, and a decimal point ends a sentence.",
  }),
  strip_tags: stripTagsSetting(false),
});

/** Each word becomes a string of its own: about 250 MB of them at this length. */
const maxCharacters = 4_000_000;

/** Texts of this length together take about a millisecond, most of it to find the words. */
const cheapCharacters = 10_000;
/** What `pltrdy` compares in one to three milliseconds. It compares pairs of sentences, of which 10,000 characters can have millions. */
const cheapCells = 1_000_000;

// Google's rouge_score matches [a-z0-9]+ and so drops every other script. Combining marks belong to their letters.
const word = /[\p{L}\p{M}\p{N}]+/gu;

/** The package adds it to a denominator, so that equal texts have 0.999999995. */
const pltrdyEpsilon = 1e-8;

/** The words of two texts, and how many of them are common to both in the same order. */
interface WordComparison {
  said: readonly string[];
  wanted: readonly string[];
  common: number;
}

const variants = {
  /** ROUGE-L of Lin (2004) at the level of the whole text, with beta 1 and without stemming, in lower case. */
  lin: {
    compare: compareInOrder,
    score: ({ f1 }: F1Score) => f1,
    counted: "Words in common, in the same order",
  },
  pltrdy: {
    compare: compareBySentence,
    score: pltrdyScore,
    counted: "Distinct words in common, in the same order within sentences",
  },
};

/** F1 of the longest common subsequence of words. */
export const rougeL = defineFamily({
  kind: "rule",
  name: "rouge-l",
  description: "How many words the output and the gold answer share in the same order.",
  versions: ["2026-11-24", "2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  threshold: ({ threshold }) => threshold,
  maxCharacters,
  builtInProfiles: [
    { name: "system:default", description: "An F1 of at least 0.5.", config: { threshold: 0.5 } },
    {
      name: "system:pltrdy",
      description:
        "At least 0.5 as the Python package rouge 1.0.1 (pltrdy/rouge) computes it. Weaker than the default; for comparison with papers that used that package.",
      config: { threshold: 0.5, variant: "pltrdy" },
    },
  ],
  estimateMs({ output = "", goldAnswer = "" }, { variant, strip_tags }) {
    const ofLengths = (output.length + goldAnswer.length) / cheapCharacters;
    // Cells of long texts take long to count.
    if (variant === "lin" || ofLengths > 1) return ofLengths;
    return pltrdyCells(comparedText(output, strip_tags), comparedText(goldAnswer, strip_tags)) / cheapCells;
  },
  prepare({ threshold, variant, strip_tags }) {
    const { compare, score, counted } = variants[variant];
    return (sample) => {
      const output = comparedText(sample.output ?? "", strip_tags);
      const gold = comparedText(sample.goldAnswer ?? "", strip_tags);
      const comparison = compare(output, gold);
      const { said, wanted, common } = comparison;
      const measured = f1Score(common, said.length, wanted.length);
      return {
        pass: measured.f1 >= threshold,
        score: score(measured),
        extra: {
          precision: measured.precision,
          recall: measured.recall,
          common_words: common,
          output_words: said.length,
          gold_words: wanted.length,
        },
        explain: () => describe(counted, comparison),
      };
    };
  },
});

function compareInOrder(output: string, gold: string): WordComparison {
  const said = wordsOf(output);
  const wanted = wordsOf(gold);
  if (wanted.length === 0)
    throw new NotApplicableError("The gold answer has no word, and without one there is no ROUGE-L.");
  return { said, wanted, common: lcsLength(said, wanted) };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(word) ?? [];
}

/** As mdlm_world_modeling calls the package: a space for an empty text, and 0 where it raises, which is for full stops alone. */
function compareBySentence(output: string, gold: string): WordComparison {
  const words = pltrdyWords(output || " ", gold || " ");
  if (words === undefined) {
    throw new UnusableSampleError("The output and the gold answer are too long to be compared.");
  }
  return { said: [...words.said], wanted: [...words.wanted], common: words.common.size };
}

function pltrdyScore({ precision, recall }: F1Score): number {
  return 2 * ((precision * recall) / (precision + recall + pltrdyEpsilon));
}

function describe(counted: string, { said, wanted, common }: WordComparison): string {
  const shared = `${counted}: ${common}, of ${said.length} in the output and ${wanted.length} in the gold answer.`;
  const missing = subtract(countItems(wanted), countItems(said));
  const unwanted = subtract(countItems(said), countItems(wanted));
  if (said.length + wanted.length === 0) return "Neither the output nor the gold answer has a word.";
  if (missing.size + unwanted.size === 0) {
    return common === wanted.length ? shared : `${shared} Only the order differs.`;
  }
  return [
    shared,
    ...(missing.has("") || unwanted.has("") ? [`White space after a full stop counts as a word, "".`] : []),
    ...(missing.size > 0 ? [endSentence(`The output lacks ${listItems(missing)}`)] : []),
    ...(unwanted.size > 0
      ? [`${missing.size > 0 ? "It" : "The output"} has ${listItems(unwanted)}, which the gold answer lacks.`]
      : []),
  ].join(" ");
}
