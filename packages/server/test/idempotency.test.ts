import { afterAll, beforeAll, expect, test } from "bun:test";
import { EvaluateResponse, type EvaluationResult } from "@presage/contract";
import { onEachDatabase } from "./support/databases.ts";
import { evaluationResultsClient } from "./support/evaluation-results.ts";
import { evaluationClient } from "./support/evaluations.ts";
import { faultsOf } from "./support/faults.ts";
import { keyOfAnotherAccount } from "./support/other-account.ts";
import { startPresage, type TestPresage, testKey } from "./support/presage.ts";
import { completion, startUpstream } from "./support/upstream.ts";

const sample = { evaluated_model_output: "a", evaluated_model_gold_answer: "a" };
const exactMatch = { evaluator: "exact-match" };
const judge = { evaluator: "judge", profile_name: "system:is-concise" };

onEachDatabase((database) => {
  const upstream = startUpstream();
  let presage: TestPresage;
  let stranger: string;
  const { post, search } = evaluationClient(() => presage);
  const { correct } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    const databaseUrl = await database.create();
    presage = await startPresage({
      PRESAGE_DATABASE_URL: databaseUrl,
      PRESAGE_UPSTREAM_URL: upstream.url,
    });
    stranger = await keyOfAnotherAccount(databaseUrl);
  });
  afterAll(async () => {
    await presage.stop();
    await upstream.stop();
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

  test("A request that is sent again under its key gets the verdicts that were kept", async () => {
    const request = { ...sample, app: "once", evaluators: [exactMatch, exactMatch, { evaluator: "regex" }] };
    const first = await resultsOf(await post(request, headers("k-1")));
    const second = await resultsOf(await post(request, headers("k-1")));
    expect(second).toEqual(first);
    expect(new Set(first.map((result) => result?.id)).size).toBe(3);
    expect(await search({ app: "once" })).toHaveLength(3);
    const [other] = await resultsOf(await post(request, headers("k-2")));
    expect(first.map((result) => result?.id)).not.toContain(other?.id);
  });

  test("A verdict that a person has corrected is answered with the correction", async () => {
    const request = { ...sample, app: "corrected", evaluators: [exactMatch] };
    const [first] = await resultsOf(await post(request, headers("k-0")));
    const corrected = await correct(first?.id ?? "", { pass: false, comment: "No." });
    expect(corrected.correction).toMatchObject({ pass: false, comment: "No." });
    expect(await resultsOf(await post(request, headers("k-0")))).toEqual([corrected]);
  });

  test("What failed is tried again under its key, and what had a verdict is not", async () => {
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

  test("Of many requests with one key at once, one result is kept, and all hear of it or of the conflict", async () => {
    const request = { ...sample, app: "race", evaluators: [exactMatch] };
    const responses = await Promise.all(Array.from({ length: 12 }, () => post(request, headers("k-4"))));
    const statuses = new Set(responses.map(({ status }) => status));
    expect(statuses.has(200)).toBe(true);
    expect([...statuses].every((status) => status === 200 || status === 409)).toBe(true);
    expect(await search({ app: "race" })).toHaveLength(1);
    const [again] = await resultsOf(await post(request, headers("k-4")));
    expect(again?.id).toBe((await search({ app: "race" }))[0]?.id ?? "");
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

  test("A key means nothing in another account", async () => {
    const request = { ...sample, evaluators: [exactMatch] };
    const [own] = await resultsOf(await post(request, headers("k-5")));
    const [theirs] = await resultsOf(await post(request, headers("k-5", stranger)));
    expect(theirs?.id).not.toBe(own?.id ?? "");
  });

  test("A key that is no plain text is refused", async () => {
    const request = { ...sample, evaluators: [exactMatch] };
    const [fault] = await faultsOf(await post(request, headers("two words")));
    expect(fault?.loc).toEqual(["header", "idempotency-key"]);
  });
});
