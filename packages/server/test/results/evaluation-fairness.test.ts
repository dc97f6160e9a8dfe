import { expect, test } from "bun:test";
import { EvaluateResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { startPresageWithTwoAccounts } from "../support/presage/presage-with-two-accounts.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const letters = "abcdefghijklmnopqrstuvwxyz";

/** Two texts with nothing in common take the longest to compare. */
function compare(characters: number, seed: number) {
  const text = (step: number) =>
    Array.from({ length: characters }, (_, index) => letters[(index * step + (index >> 5) * seed) % 26]).join(
      "",
    );
  return {
    evaluators: [{ evaluator: "edit-distance" }],
    evaluated_model_output: text(7),
    evaluated_model_gold_answer: text(11),
    capture: "none",
  };
}

// Nothing is stored.
onAnyDatabase((database) => {
  test("with fifty heavy evaluations of one account, another's small ones do not wait, and its heavy ones take turns", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create());
    const ended: string[] = [];
    const evaluate = async (call: typeof server.mine, who: string, body: unknown) => {
      const { results } = EvaluateResponse.parse(await (await call("POST", "/v1/evaluate", body)).json());
      ended.push(who);
      return results[0]?.status;
    };
    const crowd = Array.from({ length: 50 }, (_, index) =>
      evaluate(server.mine, "mine", compare(8_000, index)),
    );
    const inFlight = () => readMetric(server.presage, "presage_evaluations_in_flight");
    await eventually(inFlight, (count) => count >= 10);
    const small = Array.from({ length: 20 }, (_, index) =>
      evaluate(server.theirs, "their small", compare(20, index)),
    );
    const heavy = Array.from({ length: 3 }, (_, index) =>
      evaluate(server.theirs, "their heavy", compare(8_000, 100 + index)),
    );
    expect(new Set(await Promise.all([...crowd, ...small, ...heavy]))).toEqual(new Set(["success"]));
    const countBefore = (who: string, last: string) =>
      ended.slice(0, ended.lastIndexOf(last)).filter((one) => one === who).length;
    expect(countBefore("mine", "their small")).toBeLessThan(25);
    // If the accounts take turns there are three of each, in addition to those that had ended or begun before.
    expect(countBefore("mine", "their heavy")).toBeLessThan(40);
  });
});
