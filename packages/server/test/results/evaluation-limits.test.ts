import { expect, test } from "bun:test";
import { expectEventually } from "../support/eventually.ts";
import { startPresageWithTwoAccounts } from "../support/presage/presage-with-two-accounts.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { passing, say } from "../support/upstream/judge.ts";

const texts = { evaluated_model_output: "a", evaluated_model_gold_answer: "a", capture: "none" };
const rule = { evaluators: [{ evaluator: "exact-match" }], ...texts };
const judge = { evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }], ...texts };

onAnyDatabase((database) => {
  test("an account's evaluations have a rate, and each response says what is left of it", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_EVALUATE_RPM: "3",
    });
    const evaluate = async (call: typeof server.mine) => {
      const { status, headers } = await call("POST", "/v1/evaluate", rule);
      const stated = ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests"];
      return [status, ...stated.map((name) => headers.get(name))];
    };
    for (const remaining of ["2", "1", "0"])
      expect(await evaluate(server.mine)).toEqual([200, "3", remaining]);
    expect(await evaluate(server.mine)).toEqual([429, "3", "0"]);
    expect(await evaluate(server.theirs)).toEqual([200, "3", "2"]);
    const prediction = { interaction: { state: "calm", action: "wait" } };
    expect((await server.mine("POST", "/v1/predict", prediction)).status).toBe(200);
  });

  test("an account's concurrent evaluations are limited, whatever others do", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_EVALUATE_ACCOUNT_IN_FLIGHT: "2",
    });
    const held = Promise.withResolvers<void>();
    server.upstream.answer = async () => {
      await held.promise;
      return say(passing);
    };
    const inFlight = () => readMetric(server.presage, "presage_evaluations_in_flight");
    const judgements = [
      server.mine("POST", "/v1/evaluate", judge),
      server.mine("POST", "/v1/evaluate", judge),
    ];
    await expectEventually(inFlight, 2);
    const refused = await server.mine("POST", "/v1/evaluate", rule);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await server.theirs("POST", "/v1/evaluate", rule)).status).toBe(200);
    held.resolve();
    await Promise.all(judgements);
    expect((await server.mine("POST", "/v1/evaluate", rule)).status).toBe(200);
  });
});
