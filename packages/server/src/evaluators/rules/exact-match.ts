import { z } from "zod";
import { defineFamily } from "../family.ts";
import { NotApplicableError, refuseLonger, type Verdict } from "../outcome.ts";
import { isEqualInPython, isWrittenAlike, readMdlmText } from "./python-values.ts";
import {
  codePointPositions,
  describeDifference,
  firstDifference,
  type NormalisedText,
  normaliseText,
  pythonStripRange,
  textNormalisation,
} from "./text.ts";

const config = z.strictObject({
  ...textNormalisation,
  variant: z.enum(["presage", "word2world", "mdlm-exact", "mdlm-semantic"]).default("presage").meta({
    description:
      "`presage`: by the settings above. The others compare as published scripts do, and the settings above have no effect. `word2world`: equal except for white space at the ends, as Python knows it. `mdlm-exact` and `mdlm-semantic`, of mdlm_world_modeling: without `<think>` blocks and `<tool_response>` tags, and JSON with its keys in any order; 1, 1.0 and true are equal only for the second.",
  }),
});

type Compare = (output: string, goldAnswer: string) => Verdict;

const variants: Record<Exclude<z.output<typeof config>["variant"], "presage">, Compare> = {
  word2world: (output, goldAnswer) => {
    const range = pythonStripRange(output);
    const said = { text: output.slice(...range), range };
    return compareTexts(output, said, goldAnswer.slice(...pythonStripRange(goldAnswer)));
  },
  "mdlm-exact": (output, goldAnswer) => compareAsMdlm(output, goldAnswer, isWrittenAlike),
  "mdlm-semantic": (output, goldAnswer) => compareAsMdlm(output, goldAnswer, isEqualInPython),
};

/** Parsed JSON takes many times the memory of its text. */
const maxJsonCharacters = 2_500_000;
const cheapJsonCharacters = 20_000;

export const exactMatch = defineFamily({
  kind: "rule",
  name: "exact-match",
  description: "The output equals the gold answer.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  builtInProfiles: [
    {
      name: "system:default",
      description: "Equal except for white space at the ends.",
      config: { trim: true, ignore_case: false, strip_tags: false },
    },
    {
      name: "system:word2world-exact",
      description: "The single-step accuracy of Word2World: equal except for white space at the ends.",
      config: { variant: "word2world" },
    },
    {
      name: "system:mdlm-exact",
      description:
        "The exact match of mdlm_world_modeling: equal without reasoning and tags, JSON with its keys in any order.",
      config: { variant: "mdlm-exact" },
    },
    {
      name: "system:mdlm-semantic",
      description:
        "The semantic match of mdlm_world_modeling: as its exact match, but JSON by its values, so that 1 equals 1.0.",
      config: { variant: "mdlm-semantic" },
    },
  ],
  estimateMs: ({ output = "", goldAnswer = "" }, { variant }) =>
    readsJson(variant) ? (output.length + goldAnswer.length) / cheapJsonCharacters : 0,
  prepare({ variant, ...profile }) {
    if (variant !== "presage") {
      return ({ output = "", goldAnswer = "" }) => variants[variant](output, goldAnswer);
    }
    return ({ output = "", goldAnswer = "" }) =>
      compareTexts(output, normaliseText(output, profile), normaliseText(goldAnswer, profile).text);
  },
});

function readsJson(variant: z.output<typeof config>["variant"]): boolean {
  return variant === "mdlm-exact" || variant === "mdlm-semantic";
}

function compareTexts(output: string, { text: said, range }: NormalisedText, wanted: string): Verdict {
  const at = firstDifference(said, wanted);
  if (at === undefined) return { pass: true, score: 1, explain: () => "The output equals the gold answer." };
  if (range === undefined)
    return { pass: false, score: 0, explain: () => describeDifference(said, wanted, at) };
  const [start, end] = range;
  return {
    pass: false,
    score: 0,
    positions: codePointPositions(output, [[start + at, end]]),
    explain: () => describeDifference(output.slice(0, end), wanted, at, start),
  };
}

function compareAsMdlm(output: string, goldAnswer: string, isSame: typeof isWrittenAlike): Verdict {
  refuseLonger(output.length + goldAnswer.length, maxJsonCharacters);
  const gold = readMdlmText(goldAnswer);
  if (gold.text === "") {
    throw new NotApplicableError(
      "The gold answer is empty, and the published script leaves such samples out.",
    );
  }
  const said = readMdlmText(output);
  if (said.json === undefined || gold.json === undefined) {
    const verdict = compareTexts(output, { text: said.text }, gold.text);
    return { ...verdict, extra: { compared_as: "text" } };
  }
  const pass = isSame(said.json, gold.json);
  return {
    pass,
    score: pass ? 1 : 0,
    extra: { compared_as: "json" },
    explain: () =>
      pass
        ? "The output equals the gold answer as JSON."
        : "The output and the gold answer are different JSON; the evaluator `json-match` says where.",
  };
}
