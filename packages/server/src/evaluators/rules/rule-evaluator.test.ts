import { expect, test } from "bun:test";
import { z } from "zod";
import type { RuleFamily } from "../family.ts";
import { createRuleEvaluator } from "./run-rule.ts";

function counting(score = 1) {
  const prepared: unknown[] = [];
  const family: RuleFamily = {
    kind: "rule",
    name: "counting",
    description: "Counts how often a config is prepared.",
    versions: ["2026-11-21"],
    needs: [],
    config: z.unknown(),
    builtInProfiles: [],
    prepare(config) {
      prepared.push(config);
      return ({ output }) => ({ pass: true, score, explain: () => `It is ${output}.` });
    },
  };
  const evaluate = createRuleEvaluator([family]);
  return {
    prepared,
    run: (config: unknown, output = "x") =>
      evaluate({ familyName: "counting", config, sample: { output }, explainStrategy: "on-success" }),
  };
}

test("a config is prepared once for many samples", () => {
  const { prepared, run } = counting();
  expect(run({ a: 1 }, "first").explanation).toBe("It is first.");
  expect(run({ a: 1 }, "second").explanation).toBe("It is second.");
  expect(prepared).toEqual([{ a: 1 }]);
  run({ a: 2 });
  expect(prepared).toHaveLength(2);
});

test("at most 500 prepared configs are cached", () => {
  const { prepared, run } = counting();
  for (let a = 0; a <= 500; a += 1) run({ a });
  run({ a: 500 });
  expect(prepared).toHaveLength(501);
  run({ a: 0 });
  expect(prepared).toHaveLength(502);
});

test("a config too large to be cached still works", () => {
  const { prepared, run } = counting();
  const config = { text: "x".repeat(5_000_000) };
  expect(run(config).pass).toBe(true);
  run(config);
  expect(prepared).toHaveLength(2);
});

test.each([Number.NaN, -0.1, 1.0001, Number.POSITIVE_INFINITY])("a score of %p is an error", (score) => {
  expect(() => counting(score).run({})).toThrow("gave the score");
});
