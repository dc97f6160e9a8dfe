import { expect, test } from "bun:test";
import { z } from "zod";
import { ServiceError } from "../platform/errors.ts";
import { storeUnavailable } from "../platform/storage/store-error.ts";
import type { ModelFamily, RuleFamily } from "./family.ts";
import { EvaluationError } from "./outcome.ts";
import { createConfigReader, createEvaluatorRunner } from "./run-evaluator.ts";

function familyThat(fails: () => Error): ModelFamily {
  return {
    kind: "model",
    name: "failing",
    description: "Fails.",
    versions: ["2026-11-21"],
    needs: [],
    takes: [],
    config: z.strictObject({}),
    builtInProfiles: [],
    async evaluate() {
      throw fails();
    },
  };
}

function run(fails: () => Error, unexpected: unknown[] = []) {
  const unused = () => Promise.reject(new Error("unused"));
  const rules = { run: unused, check: unused, dispose: async () => {} };
  const onUnexpectedError = (error: unknown) => void unexpected.push(error);
  const runEvaluator = createEvaluatorRunner({ rules, modelTimeoutMs: 1_000, onUnexpectedError });
  const profile = { name: "p", publicId: "11111111-1111-4111-8111-111111111111", revision: 1, config: {} };
  return runEvaluator(
    {
      family: familyThat(fails),
      profile,
      sample: {},
      accountId: "a",
      explainStrategy: "always",
      allowance: { mainThreadMs: 10, mayRetry: () => true },
    },
    new AbortController().signal,
  );
}

test("an error in an evaluator becomes its outcome", async () => {
  const unexpected: unknown[] = [];
  expect(await run(() => new Error("a bug"), unexpected)).toMatchObject({ status: "failed" });
  expect(unexpected.length).toBe(1);
});

test("a read that is refused for lack of room fails the request, with a Retry-After", async () => {
  const unexpected: unknown[] = [];
  const crowded = () => new ServiceError("overloaded", "Too many reads.", { retryAfterS: 1 });
  await expect(run(crowded, unexpected)).rejects.toMatchObject({ code: "overloaded", retryAfterS: 1 });
  expect(unexpected).toEqual([]);
});

test("a store that is not available fails the request, and no failed evaluation is stored", async () => {
  const unexpected: unknown[] = [];
  const running = run(() => storeUnavailable(new Error("no answer")), unexpected);
  await expect(running).rejects.toMatchObject({ code: "store_unavailable" });
  expect(unexpected).toEqual([]);
});

/** A family that counts how often its schema is used. */
function countingFamily() {
  const checked: unknown[] = [];
  const config = z.object({ words: z.number() }).superRefine((given) => {
    checked.push(given);
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
  return { family, checked };
}

const profile = { publicId: "one", name: "mine", revision: 1, config: { words: 1, more: true } };

test("a revision's config is checked once", () => {
  const { family, checked } = countingFamily();
  const readConfig = createConfigReader();
  expect(readConfig(family, profile)).toEqual({ words: 1 });
  expect(readConfig(family, { ...profile, config: { words: 1, more: true } })).toEqual({ words: 1 });
  expect(checked).toHaveLength(1);
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
