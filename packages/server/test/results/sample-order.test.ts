import { beforeAll, expect, test } from "bun:test";
import { selectIdsByColumn } from "../../src/results/search/values-store.ts";
import { selectResults } from "../../src/results/write/stored-results-store.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeResults } from "../support/store/store-results.ts";

const samples = ["t/10", 2, "t/9", 10, null, "1", "t/9", -3, "b", "a"];
const ordered = [-3, "1", 2, 10, "a", "b", "t/9", "t/9", "t/10"];

onEachDatabase((database) => {
  const presage = usePresage({ database });
  const { search, searchAll, importAll } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    await importAll(
      samples.map((dataset_sample_id, index) => ({
        evaluator_id: "theirs",
        dataset_id: "d",
        dataset_sample_id,
        pass: index % 2 === 0,
        score_raw: index / 10,
      })),
    );
    await importAll([{ evaluator_id: "theirs", dataset_id: "other", dataset_sample_id: 5, pass: true }]);
  });

  test("A search by sample returns results in the order of their samples, without those that name none", async () => {
    const samplesOf = async (order: string) =>
      (await search({ dataset_id: "d", order })).map((result) => result.dataset_sample_id);
    expect(await samplesOf("dataset_sample_id")).toEqual(ordered);
    expect(await samplesOf("-dataset_sample_id")).toEqual(ordered.toReversed());
    const [, , , , ofOther] = await search({ order: "dataset_sample_id" });
    expect(ofOther?.dataset_id).toBe("d");
    expect(await search({ order: "dataset_sample_id" })).toHaveLength(ordered.length + 1);
  });

  test.each([
    {},
    { dataset_id: "d" },
    { dataset_id: "d", pass: true },
    { score_raw_min: 0.2, score_raw_max: 0.8 },
    { after_datetime: "2020-01-01T00:00:00Z" },
  ])("Pages of %p continue after the last id, in either direction", async (filter) => {
    for (const order of ["dataset_sample_id", "-dataset_sample_id"]) {
      const whole = (await search({ ...filter, order })).map(({ id }) => Number(id));
      expect(whole.length).toBeGreaterThan(3);
      for (const limit of [3, 1000]) {
        expect(await searchAll({ ...filter, order }, limit)).toEqual(whole);
      }
    }
  });

  test("A search by score returns the lowest or the highest first, without results that have none", async () => {
    await importAll([{ evaluator_id: "theirs", dataset_id: "d", dataset_sample_id: 99, pass: true }]);
    const scoresOf = async (order: string, more: object = {}) =>
      (await search({ dataset_id: "d", order, ...more })).map((result) => result.score_raw);
    const lowestFirst = samples.map((_, index) => index / 10);
    expect(await scoresOf("score_raw")).toEqual(lowestFirst);
    expect(await scoresOf("-score_raw")).toEqual(lowestFirst.toReversed());
    expect(await scoresOf("score_raw", { pass: true })).toEqual([0, 0.2, 0.4, 0.6, 0.8]);
    for (const order of ["score_raw", "-score_raw"]) {
      const whole = (await search({ order })).map(({ id }) => Number(id));
      for (const limit of [1, 1000]) expect(await searchAll({ order }, limit)).toEqual(whole);
    }
  });

  test("A search finds the results of several samples at once", async () => {
    const samplesOf = async (more: object) =>
      (await search({ dataset_id: "d", order: "dataset_sample_id", ...more })).map(
        (result) => result.dataset_sample_id,
      );
    const dataset_sample_ids = ["t/9", 1, "b", "no such"];
    expect(await samplesOf({ dataset_sample_ids })).toEqual(["1", "b", "t/9", "t/9"]);
    expect(await samplesOf({ dataset_sample_ids, pass: false })).toEqual(["1"]);
    expect(await samplesOf({ dataset_sample_ids: [] })).toEqual([]);
  });

  test("Nothing comes after a result that has no place in this order", async () => {
    const [without] = (await search({ dataset_id: "d" })).filter((one) => one.dataset_sample_id === null);
    expect(await search({ order: "dataset_sample_id", after_id: without?.id })).toEqual([]);
    // If the result has been deleted, an empty page would look like the end of those after it.
    const gone = { order: "dataset_sample_id", after_id: 999_999 };
    const response = await presage.call("POST", "/v1/evaluation-results/search", gone);
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining("after_id")]);
  });

  test("Results without a verdict have this order too, however many there are", async () => {
    await using store = await openStore(presage.databaseUrl);
    const { database, owner } = store;
    const fields = Array.from({ length: 30 }, (_, index) => ({
      metadata: { app: "default", datasetSampleId: 30 - index },
      outcome: { status: "failed" as const, errorMessage: "timeout: it took too long" },
    }));
    await storeResults(database, owner.account_id, fields);
    const samplesOf = async (ids: readonly number[]) =>
      (await selectResults(database, owner.account_id, ids)).map(({ metadata }) => metadata.datasetSampleId);
    const inOrder = Array.from({ length: 30 }, (_, index) => index + 1);
    const failed = await search({ order: "dataset_sample_id", status: "failed" });
    expect(failed.map((result) => result.dataset_sample_id)).toEqual(inOrder);
    for (const sortsUpTo of [10, 100]) {
      const whole = {
        accountId: owner.account_id,
        filter: { status: "failed" as const },
        page: { order: "first-sample-first" as const, limit: 20 },
        beforeId: undefined,
      };
      const first = await selectIdsByColumn(database, { ...whole, afterId: undefined }, sortsUpTo);
      const rest = await selectIdsByColumn(database, { ...whole, afterId: first.at(-1) }, sortsUpTo);
      expect([...(await samplesOf(first)), ...(await samplesOf(rest))]).toEqual(inOrder);
    }
  });

  test("No result is between bounds that are crossed", async () => {
    const filter = { score_raw_min: 0.6, score_raw_max: 0.4 };
    expect(await search({ ...filter, order: "dataset_sample_id" })).toEqual([]);
  });
});
