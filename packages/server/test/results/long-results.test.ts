import { afterAll, beforeAll, expect, test } from "bun:test";
import type { KyselyPlugin } from "kysely";
import { exportResults } from "../../src/evaluation/results/search/search-results.ts";
import { patientAsker } from "../support/asker.ts";
import { onEachDatabase } from "../support/databases.ts";
import { evaluationResultsClient } from "../support/evaluation-results.ts";
import { openStore } from "../support/open-store.ts";
import { startPresage, type TestPresage } from "../support/presage.ts";
import { storeOf } from "../support/store-of.ts";
import { storeResults } from "../support/stored-results.ts";

const megabyte = 1_000_000;

onEachDatabase((database) => {
  let presage: TestPresage;
  let databaseUrl: string;
  const { post, search } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    databaseUrl = await database.create();
    presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
    await using store = await openStore(databaseUrl);
    const resultsOf = (app: string, megabytes: number, count: number) =>
      storeResults(
        store.database,
        store.owner.account_id,
        Array.from({ length: count }, (_, index) => ({
          metadata: { app },
          sample: { output: String(index).padEnd(megabytes * megabyte, "x") },
        })),
      );
    await resultsOf("long", 1, 20);
    for (let part = 0; part < 5; part += 1) await resultsOf("huge", 14, 1);
    await resultsOf("short", 0, 1_000);
  }, 60_000);
  afterAll(() => presage.stop());

  test("An export reads few long texts at once, and all of them in order", async () => {
    await using store = await openStore(databaseUrl);
    const characters: number[] = [];
    const watch: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        const texts = result.rows.flatMap((row) => Object.values(row)).map(String);
        characters.push(texts.reduce((sum, { length }) => sum + length, 0));
        return result;
      },
    };
    const filter = { status: "success" as const, app: "long" };
    const watched = store.database.withPlugin(watch);
    const pieces = exportResults(
      { store: storeOf(watched) },
      patientAsker(store.owner.account_id),
      filter,
      "oldest-first",
    );
    const outputs = (await Array.fromAsync(pieces)).flat().map(({ sample }) => sample.output?.slice(0, 2));
    expect(outputs).toEqual(Array.from({ length: 20 }, (_, index) => String(index).padEnd(2, "x")));
    expect(Math.max(...characters)).toBeLessThan(8 * megabyte);
  });

  test("An export goes on after a page of ids that is full, and ends where nothing follows", async () => {
    await using store = await openStore(databaseUrl);
    for (const [app, count] of [
      ["short", 1_000],
      ["nowhere", 0],
      [undefined, 1_025],
    ] as const) {
      const filter = { status: "success" as const, app };
      const pieces = exportResults({ store }, patientAsker(store.owner.account_id), filter, "newest-first");
      const ids = (await Array.fromAsync(pieces)).flat().map(({ id }) => id);
      expect(ids).toHaveLength(count);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
    }
  });

  test("A page of more text than one answer takes is refused, and the answer says what helps", async () => {
    const response = await post("/search", { app: "huge" });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({
      detail: expect.stringMatching(/5 results .* 70 MB .* 64 MB.* text_limit.* limit/),
      category: "context_exceeded",
    });
    expect(await search({ app: "huge", text_limit: 10 })).toHaveLength(5);
    expect(await search({ app: "huge", limit: 4 })).toHaveLength(4);
    expect(await search({ app: "long" })).toHaveLength(20);
  });
});
