import { expect, test } from "bun:test";
import { z } from "zod";
import { EvaluationError } from "../evaluation-error.ts";
import type { RuleFamily } from "../evaluators/family.ts";
import { createConfigReader } from "./read-config.ts";

/** A family that counts how often its schema is used. */
function countingFamily() {
  const asked: unknown[] = [];
  const config = z.object({ words: z.number() }).superRefine((given) => {
    asked.push(given);
  });
  const family: RuleFamily = {
    kind: "rule",
    name: "counting",
    description: "counting",
    versions: ["2026-11-21"],
    needs: [],
    config,
    builtInProfiles: [],
    prepare: () => () => ({ pass: true, score: 1, explain: () => "" }),
  };
  return { family, asked };
}

const profile = { publicId: "one", name: "mine", revision: 1, config: { words: 1, more: true } };

test("a revision's config is checked once", () => {
  const { family, asked } = countingFamily();
  const readConfig = createConfigReader();
  expect(readConfig(family, profile)).toEqual({ words: 1 });
  expect(readConfig(family, { ...profile, config: { words: 1, more: true } })).toEqual({ words: 1 });
  expect(asked).toHaveLength(1);
});

test("another revision and another profile have their own", () => {
  const { family } = countingFamily();
  const readConfig = createConfigReader();
  readConfig(family, profile);
  expect(readConfig(family, { ...profile, revision: 2, config: { words: 2 } })).toEqual({ words: 2 });
  expect(readConfig(family, { ...profile, publicId: "other", config: { words: 3 } })).toEqual({ words: 3 });
});

test("a config that the family rejects is rejected each time", () => {
  const { family } = countingFamily();
  const readConfig = createConfigReader();
  const read = () => readConfig(family, { ...profile, config: { words: "many" } });
  expect(read).toThrow(EvaluationError);
  expect(read).toThrow(EvaluationError);
});
