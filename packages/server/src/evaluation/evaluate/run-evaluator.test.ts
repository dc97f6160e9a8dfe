import { expect, test } from "bun:test";
import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { storeUnavailable } from "../../storage/store-error.ts";
import type { ModelFamily } from "../evaluators/family.ts";
import { createEvaluatorRunner } from "./run-evaluator.ts";

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

function run(fails: () => Error, faults: unknown[] = []) {
  const unused = () => Promise.reject(new Error("unused"));
  const rules = { run: unused, check: unused, dispose: async () => {} };
  const onUnexpectedError = (error: unknown) => void faults.push(error);
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

test("what goes wrong in an evaluator is its outcome", async () => {
  const faults: unknown[] = [];
  expect(await run(() => new Error("a fault"), faults)).toMatchObject({ status: "failed" });
  expect(faults.length).toBe(1);
});

test("a read for which there is no room fails the request as well, with the word to come back", async () => {
  const faults: unknown[] = [];
  const crowded = () => new ServiceError("overloaded", "Too many reads.", { retryAfterS: 1 });
  await expect(run(crowded, faults)).rejects.toMatchObject({ code: "overloaded", retryAfterS: 1 });
  expect(faults).toEqual([]);
});

test("a store that is not available fails the request, and nothing is kept as a failed evaluation", async () => {
  const faults: unknown[] = [];
  const running = run(() => storeUnavailable(new Error("no answer")), faults);
  await expect(running).rejects.toMatchObject({ code: "store_unavailable" });
  expect(faults).toEqual([]);
});
