import { beforeAll, expect, test } from "bun:test";
import { EvaluateResponse, type EvaluationResult } from "@presage/contract";
import { expectEventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const sample = { evaluated_model_output: "a", evaluated_model_gold_answer: "a" };
const exactMatch = { evaluator: "exact-match" };
const judge = { evaluator: "judge", profile_name: "system:is-concise" };

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });
  let stranger: string;
  let startAnother: () => Promise<SpawnedPresage>;
  const { post } = evaluationClient(() => presage);
  const { search, correct, summary } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    startAnother = () =>
      spawnPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl, PRESAGE_UPSTREAM_URL: upstream.url });
    stranger = await keyOfAnotherAccount(presage.databaseUrl);
  });

  const headers = (idempotencyKey: string, apiKey = testKey) => ({
    "x-api-key": apiKey,
    "idempotency-key": idempotencyKey,
  });

  async function resultsOf(response: Response): Promise<(EvaluationResult | null)[]> {
    expect(response.status).toBe(200);
    const { results } = EvaluateResponse.parse(await response.json());
    return results.map(({ evaluation_result }) => evaluation_result);
  }

  test("A repeated request with the same key gets the stored verdicts", async () => {
    const request = { ...sample, app: "once", evaluators: [exactMatch, exactMatch, { evaluator: "regex" }] };
    const first = await resultsOf(await post(request, headers("k-1")));
    const second = await resultsOf(await post(request, headers("k-1")));
    expect(second).toEqual(first);
    expect(new Set(first.map((result) => result?.id)).size).toBe(3);
    expect(await search({ app: "once" })).toHaveLength(3);
    const [other] = await resultsOf(await post(request, headers("k-2")));
    expect(first.map((result) => result?.id)).not.toContain(other?.id);
    const unexplained = { ...request, evaluators: [{ ...exactMatch, explain_strategy: "never" }] };
    const [changed] = await resultsOf(await post(unexplained, headers("k-1")));
    expect([changed?.explain_strategy, changed?.explanation]).toEqual(["never", null]);
    const withInterval = { ...request, confidence_interval_strategy: "full-history" };
    const [measured] = await resultsOf(await post(withInterval, headers("k-1")));
    expect(measured?.additional_info.confidence_interval?.strategy).toBe("full-history");
    expect((await resultsOf(await post(withInterval, headers("k-1"))))[0]).toEqual(measured ?? null);
    expect(await resultsOf(await post(request, headers("k-1")))).toEqual(first);
  });

  test("A corrected verdict is returned with its correction", async () => {
    const request = { ...sample, app: "corrected", evaluators: [exactMatch] };
    const [first] = await resultsOf(await post(request, headers("k-0")));
    const corrected = await correct(first?.id ?? "", { pass: false, comment: "No." });
    expect(corrected.correction).toMatchObject({ pass: false, comment: "No." });
    expect(await resultsOf(await post(request, headers("k-0")))).toEqual([corrected]);
  });

  test("Failed evaluations are retried under the same key, and those with a verdict are not", async () => {
    const request = { ...sample, app: "again", evaluators: [exactMatch, judge] };
    upstream.answer = () => new Response("no", { status: 500 });
    const first = await resultsOf(await post(request, headers("k-3")));
    expect(first[1]).toBeNull();
    upstream.answer = () =>
      Response.json(completion(JSON.stringify({ reasoning: "It is short.", verdict: "pass" })));
    const second = await resultsOf(await post(request, headers("k-3")));
    expect(second[0]).toEqual(first[0] ?? null);
    expect(second[1]?.pass).toBe(true);
    expect(await search({ app: "again" })).toHaveLength(2);
  });

  test("Of many concurrent requests with one key, one result is stored and all get it", async () => {
    const request = { ...sample, app: "race", evaluators: [exactMatch] };
    const responses = await Promise.all(Array.from({ length: 12 }, () => post(request, headers("k-4"))));
    const results = (await Promise.all(responses.map(resultsOf))).flat();
    const [kept, ...more] = await search({ app: "race" });
    expect(more).toEqual([]);
    expect(results).toEqual(Array(12).fill(kept));
  });

  test("Requests with one key in two processes all get the one stored result, and it is counted once", async () => {
    await using other = await startAnother();
    const keys = Array.from({ length: 30 }, (_, index) => `two-${index}`);
    const request = { ...sample, app: "two processes", evaluators: [exactMatch, { evaluator: "regex" }] };
    const answers = await Promise.all(
      keys.flatMap((key) =>
        [presage, other, presage, other].map(async ({ call }) => ({
          key,
          ids: (await resultsOf(await call("POST", "/v1/evaluate", request, headers(key)))).map(
            (one) => one?.id,
          ),
        })),
      ),
    );
    for (const same of Map.groupBy(answers, ({ key }) => key).values()) {
      expect(new Set(same.map(({ ids }) => String(ids))).size).toBe(1);
    }
    expect(await search({ app: "two processes", limit: 1000 })).toHaveLength(2 * keys.length);
    const { groups } = await summary({ app: "two processes" });
    expect(groups).toMatchObject([{ count: 2 * keys.length, scored: 2 * keys.length }]);
  });

  test("A request that waits for an identical one evaluates itself if that one fails", async () => {
    const request = { ...sample, app: "waits", evaluators: [judge] };
    const first = Promise.withResolvers<Response>();
    let calls = 0;
    upstream.answer = () => {
      calls += 1;
      const verdict = () =>
        Response.json(completion(JSON.stringify({ reasoning: "Short.", verdict: "pass" })));
      return calls === 1 ? first.promise : verdict();
    };
    const one = post(request, headers("k-7"));
    await expectEventually(() => calls, 1);
    const two = post(request, headers("k-7"));
    // The second request would call the judge within this time.
    await Bun.sleep(100);
    expect(calls).toBe(1);
    first.resolve(new Response("no", { status: 500 }));
    expect(await resultsOf(await one)).toEqual([null]);
    expect((await resultsOf(await two))[0]?.pass).toBe(true);
    expect(await search({ app: "waits" })).toHaveLength(1);
  });

  test("Another sample under the same key is another request", async () => {
    const ask = async (evaluated_model_output: string) =>
      (
        await resultsOf(
          await post({ ...sample, evaluated_model_output, evaluators: [exactMatch] }, headers("k-6")),
        )
      )[0];
    const [first, second, again] = [await ask("a"), await ask("b"), await ask("a")];
    expect([first?.pass, second?.pass]).toEqual([true, false]);
    expect(again?.id).toBe(first?.id ?? "");
  });

  test("The same sample for another app is another request", async () => {
    const ask = async (app: string) =>
      (await resultsOf(await post({ ...sample, app, evaluators: [exactMatch] }, headers("k-7"))))[0];
    const [first, second, again] = [await ask("here"), await ask("there"), await ask("here")];
    expect([first?.app, second?.app, again?.id]).toEqual(["here", "there", first?.id]);
  });

  test("A key has no effect in another account", async () => {
    const request = { ...sample, evaluators: [exactMatch] };
    const [own] = await resultsOf(await post(request, headers("k-5")));
    const [theirs] = await resultsOf(await post(request, headers("k-5", stranger)));
    expect(theirs?.id).not.toBe(own?.id ?? "");
  });

  test("A key that is not plain text is rejected", async () => {
    const request = { ...sample, evaluators: [exactMatch] };
    const [issue] = await issuesOf(await post(request, headers("two words")));
    expect(issue?.loc).toEqual(["header", "idempotency-key"]);
  });
});
