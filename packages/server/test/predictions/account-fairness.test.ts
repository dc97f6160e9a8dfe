import { expect, test } from "bun:test";
import { EvaluationResultBatchResponse } from "@presage/contract";
import { expectEventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { startPresageWithTwoAccounts } from "../support/presage/presage-with-two-accounts.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { connectTo } from "../support/store/postgres.ts";
import { completion } from "../support/upstream/upstream.ts";

onAnyDatabase((database) => {
  test("creating more keys does not raise a user's rate limit", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_RATE_LIMIT_RPM: "5",
    });
    const { create } = apiKeyClient(() => server.presage);
    const startedAtMs = performance.now();
    let allowed = 0;
    for (let made = 0; made < 20; made += 1) {
      const { key } = await create(`key ${made}`);
      for (let call = 0; call < 6; call += 1) {
        const answer = await server.presage.call("POST", "/v1/predict", prediction, { "x-api-key": key });
        if (answer.status === 200) allowed += 1;
        else expect([answer.status, answer.headers.get("retry-after") !== null]).toEqual([429, true]);
        // The header states the key's own limit, whichever limit was exceeded.
        expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("5");
      }
    }
    const cameInMeanwhile = Math.ceil(((performance.now() - startedAtMs) / 60_000) * 50);
    expect(allowed).toBeGreaterThanOrEqual(50);
    expect(allowed).toBeLessThanOrEqual(50 + cameInMeanwhile);
    // The limits of one account do not affect another.
    expect((await server.theirs("POST", "/v1/predict", prediction)).status).toBe(200);
  });

  test("an account that uses all prediction slots leaves the next ones to another account", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_MAX_IN_FLIGHT: "10",
    });
    const waiting: (() => void)[] = [];
    server.upstream.answer = async () => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return Response.json(completion("At last."));
    };
    let isOver = false;
    // Many callers that call again as soon as they get a response.
    const crowded = Array.from({ length: 40 }, async () => {
      while (!isOver) {
        const { status } = await server.mine("POST", "/v1/predict", prediction);
        if (status === 503) await Bun.sleep(5);
      }
    });
    await expectEventually(() => waiting.length, 10);
    expect((await server.theirs("POST", "/v1/predict", prediction)).status).toBe(503);
    waiting.shift()?.();
    await Bun.sleep(100);
    const theirs = server.theirs("POST", "/v1/predict", prediction);
    await expectEventually(() => waiting.length, 10);
    isOver = true;
    const releasing = setInterval(() => waiting.shift()?.(), 1);
    expect((await theirs).status).toBe(200);
    await Promise.all(crowded);
    clearInterval(releasing);
  });

  if (database.name === "PostgreSQL") {
    test("one account's changes that wait for a row lock leave connections to others", async () => {
      const url = await database.create();
      await using server = await startPresageWithTwoAccounts(url);
      const imported = await server.mine("POST", "/v1/evaluation-results/batch", {
        evaluation_results: [{ evaluator_id: "a", pass: true }],
      });
      const [result] = EvaluationResultBatchResponse.parse(await imported.json()).evaluation_results;
      const correction = `/v1/evaluation-results/${result?.id}/correction`;
      const holder = await connectTo(url);
      const crowdsOf = [
        { path: "/v1/api-keys", body: { name: "one of many" }, held: "users" },
        { path: "/v1/api-keys", body: { name: "twin" }, held: "users", idempotencyKey: "twins" },
        { path: correction, body: { pass: false }, held: "evaluation_results" },
      ];
      for (const { path, body, held, idempotencyKey } of crowdsOf) {
        await holder.query(`begin; select id from ${held} for update`);
        const headers = {
          "x-api-key": testKey,
          ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
        };
        const crowded = Array.from({ length: 30 }, () => server.presage.call("POST", path, body, headers));
        await Bun.sleep(100);
        const theirs = server.theirs("POST", "/v1/evaluate", {
          evaluators: [{ evaluator: "exact-match" }],
          evaluated_model_output: "a",
          evaluated_model_gold_answer: "a",
        });
        const first = await Promise.race([theirs, Bun.sleep(4_000).then(() => undefined)]);
        await holder.query("rollback");
        expect([path, first?.status]).toEqual([path, 200]);
        expect(new Set((await Promise.all(crowded)).map(({ status }) => status))).toEqual(new Set([201]));
      }
      await holder.end();
    });
  }

  test("one account's long edit distances do not block the threads for others", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create());
    const distances = (count: number, length: number) => ({
      evaluators: Array.from({ length: count }, () => ({ evaluator: "edit-distance" })),
      evaluated_model_output: "ab".repeat(length / 2),
      evaluated_model_gold_answer: "bc".repeat(length / 2),
      capture: "none",
    });
    const caller = new AbortController();
    const crowded = Array.from({ length: 8 }, () =>
      server.mine("POST", "/v1/evaluate", distances(20, 40_000), caller.signal).catch(() => "gone"),
    );
    await expectEventually(() => readMetric(server.presage, "presage_evaluations_in_flight"), 8);
    const { evaluate } = evaluationClient(() => ({
      call: (method, path, body) => server.theirs(method, path, body),
    }));
    const [item] = await evaluate(distances(1, 4_000));
    expect(item).toMatchObject({ status: "success", error_message: null });
    caller.abort();
    expect(await Promise.all(crowded)).toEqual(Array.from({ length: 8 }, () => "gone"));
  });
});
