import { expect } from "bun:test";
import { ruleRunnerDefaults } from "../../src/evaluators/rules/run-rule.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { slowTest } from "../support/whole-run.ts";

const letters = "abcdefghijklmnopqrstuvwxyz";
/** One sample runs in each thread, and as many wait. */
const longCount = 2 * ruleRunnerDefaults.maxThreads + 2;

const presage = usePresage();

/** Two texts with nothing in common take the longest to compare. */
async function compare(characters: number): Promise<number> {
  const text = (step: number) =>
    Array.from({ length: characters }, (_, index) => letters[(index * step + (index >> 5)) % 26]).join("");
  const response = await presage.call("POST", "/v1/evaluate", {
    evaluators: [{ evaluator: "edit-distance" }],
    evaluated_model_output: text(7),
    evaluated_model_gold_answer: text(11),
    capture: "none",
  });
  await response.arrayBuffer();
  return response.status;
}

slowTest("a short comparison ends before long ones of its account that were asked for earlier", async () => {
  const ended: string[] = [];
  const evaluate = async (what: string, characters: number) => {
    expect(await compare(characters)).toBe(200);
    ended.push(what);
  };
  await evaluate("first", 6_000);
  const long = Array.from({ length: longCount }, () => evaluate("long", 60_000));
  await Bun.sleep(300);
  await evaluate("short", 6_000);
  // Samples that had a thread may end before the short one, but none that waited.
  const before = ended.filter((what) => what === "long").length;
  expect(before).toBeLessThanOrEqual(longCount / 2);
  await Promise.all(long);
});
