import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { readChatTrajectory, readPredictionLine } from "../../datasets/formats.ts";
import type { RuleFamily } from "../family.ts";
import { NotApplicableError, type Sample, type Verdict } from "../outcome.ts";
import { exactMatch } from "./exact-match.ts";
import { jsonMatch } from "./json-match.ts";

/** Made by `published-scores.fixture.py`, which describes them. */
const isMatch = z.boolean().nullable();
const Line = z.discriminatedUnion("script", [
  z.strictObject({
    script: z.literal("mdlm"),
    reference: z.string(),
    outputs: z.array(z.tuple([z.string(), isMatch, isMatch])),
  }),
  z.strictObject({
    script: z.literal("mdlm-file"),
    rows: z.array(z.looseObject({ index: z.int() })),
    num_samples: z.int(),
    num_dropped_errors: z.int(),
    exact_match: z.number(),
    semantic_match: z.number(),
  }),
  z.strictObject({
    script: z.literal("word2world"),
    conversations: z.array(z.looseObject({ id: z.string() })),
    predictions: z.array(z.string()),
    correct: z.array(z.boolean()),
    steps: z.record(z.string(), z.tuple([z.int(), z.int()])),
    average: z.number(),
  }),
  z.strictObject({
    script: z.literal("llm-sim"),
    is_diff: z.boolean(),
    current: z.string(),
    gold: z.string(),
    outputs: z.array(z.tuple([z.string(), z.int(), z.int(), z.boolean()])),
  }),
]);
type Line = z.infer<typeof Line>;

const lines = readFileSync(new URL("./published-scores.fixture.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => Line.parse(JSON.parse(line)));

function linesOf<Script extends Line["script"]>(script: Script): Extract<Line, { script: Script }>[] {
  return lines.filter((line): line is Extract<Line, { script: Script }> => line.script === script);
}

function prepare(family: RuleFamily, name: string): (sample: Sample) => Verdict {
  const profile = family.builtInProfiles.find((one) => one.name === name);
  return family.prepare(family.config.parse(profile?.config));
}

/** Null if the script leaves the sample out. */
function passes(evaluate: (sample: Sample) => Verdict, sample: Sample): boolean | null {
  try {
    const { pass, score } = evaluate(sample);
    expect(score).toBe(pass ? 1 : 0);
    return pass;
  } catch (error) {
    expect(error).toBeInstanceOf(NotApplicableError);
    return null;
  }
}

const mdlmExact = prepare(exactMatch, "system:mdlm-exact");
const mdlmSemantic = prepare(exactMatch, "system:mdlm-semantic");
const word2world = prepare(exactMatch, "system:word2world-exact");

function share(verdicts: readonly (boolean | null)[]): number {
  const counted = verdicts.filter((verdict) => verdict !== null);
  return counted.filter(Boolean).length / counted.length;
}

test("the fixture has right and wrong predictions for each script", () => {
  const mdlm = linesOf("mdlm").flatMap(({ outputs }) => outputs.map(([, ...verdicts]) => String(verdicts)));
  expect([...new Set(mdlm)].sort()).toEqual([",", "false,false", "false,true", "true,false", "true,true"]);
  const llmSim = linesOf("llm-sim").flatMap(({ is_diff, outputs }) =>
    outputs.map(([, errors, , correct]) => `${is_diff},${Math.sign(errors)},${correct}`),
  );
  expect([...new Set(llmSim)].sort()).toEqual([
    "false,-1,false",
    "false,0,false",
    "false,0,true",
    "false,1,false",
    "true,-1,false",
    "true,0,false",
    "true,0,true",
    "true,1,false",
  ]);
});

test("`mdlm-exact` and `mdlm-semantic` have exactly the verdicts of mdlm_world_modeling", () => {
  for (const { reference: goldAnswer, outputs } of linesOf("mdlm")) {
    for (const [output, exact, semantic] of outputs) {
      const sample = { output, goldAnswer };
      const verdicts = { exact: passes(mdlmExact, sample), semantic: passes(mdlmSemantic, sample) };
      expect({ ...sample, ...verdicts }).toEqual({ ...sample, exact, semantic });
    }
  }
});

test("a file of predictions has the counts and means that mdlm_world_modeling prints", () => {
  const [file] = linesOf("mdlm-file");
  const samples = (file?.rows ?? []).flatMap((row, index) => [...readPredictionLine(row, index + 1)]);
  const predicted = samples.flatMap(({ prediction: output, next_state: goldAnswer }) =>
    output === undefined ? [] : [{ output, goldAnswer }],
  );
  const exact = predicted.map((sample) => passes(mdlmExact, sample));
  const semantic = predicted.map((sample) => passes(mdlmSemantic, sample));
  expect(samples.length - predicted.length).toBe(file?.num_dropped_errors ?? 0);
  expect(exact.filter((verdict) => verdict !== null)).toHaveLength(file?.num_samples ?? 0);
  expect(share(exact)).toBeCloseTo(file?.exact_match ?? 0, 12);
  expect(share(semantic)).toBeCloseTo(file?.semantic_match ?? 0, 12);
});

test("conversations have Word2World's accuracy, overall and by step", () => {
  const [file] = linesOf("word2world");
  const samples = (file?.conversations ?? []).flatMap((line, index) => [
    ...readChatTrajectory(line, index + 1),
  ]);
  const verdicts = samples.map(({ next_state: goldAnswer }, index) =>
    passes(word2world, { output: file?.predictions[index] ?? "", goldAnswer }),
  );
  expect(verdicts).toEqual(file?.correct ?? []);
  expect(share(verdicts)).toBeCloseTo(file?.average ?? 0, 12);
  const steps: Record<string, [correct: number, total: number]> = {};
  for (const [index, { step }] of samples.entries()) {
    // The script counts the user's turns, of which there is one in the first step.
    const [correct, total] = steps[step + 1] ?? [0, 0];
    steps[step + 1] = [correct + (verdicts[index] ? 1 : 0), total + 1];
  }
  expect(steps).toEqual(file?.steps ?? {});
});

test("`llm-sim` and `llm-sim-diff` have exactly the errors of LLM-Sim, and what its analysis counts as correct", () => {
  for (const { is_diff, current, gold: goldAnswer, outputs } of linesOf("llm-sim")) {
    const evaluate = prepare(jsonMatch, is_diff ? "system:llm-sim-diff" : "system:llm-sim");
    for (const [output, objectErrors, scoreErrors, correct] of outputs) {
      const { pass, score, extra } = evaluate({ input: current, output, goldAnswer });
      const found = [extra?.object_errors ?? -1, extra?.score_errors ?? -1, pass, score];
      const expected = [objectErrors, scoreErrors, correct, correct ? 1 : 0];
      expect({ output, found, expected }).toEqual({ output, found: expected, expected });
    }
  }
});
