import { beforeAll, expect, test } from "bun:test";
import type { KyselyPlugin } from "kysely";
import { exportResults } from "../../src/results/search/search-results.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";
import { storeOf } from "../support/store/store-of.ts";
import { storeResults } from "../support/store/store-results.ts";

const megabyte = 1_000_000;

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { post, search } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    await using store = await openStore(presage.databaseUrl);
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
  }, 300_000);

  test("An export reads few long texts at a time, and all of them in order", async () => {
    await using store = await openStore(presage.databaseUrl);
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
      anyRequester(store.owner.account_id),
      filter,
      "oldest-first",
    );
    const outputs = (await Array.fromAsync(pieces)).flat().map(({ sample }) => sample.output?.slice(0, 2));
    expect(outputs).toEqual(Array.from({ length: 20 }, (_, index) => String(index).padEnd(2, "x")));
    expect(Math.max(...characters)).toBeLessThan(8 * megabyte);
  });

  test("An export continues after a full page of ids, and ends where nothing follows", async () => {
    await using store = await openStore(presage.databaseUrl);
    for (const [app, count] of [
      ["short", 1_000],
      ["nowhere", 0],
      [undefined, 1_025],
    ] as const) {
      const filter = { status: "success" as const, app };
      const pieces = exportResults({ store }, anyRequester(store.owner.account_id), filter, "newest-first");
      const ids = (await Array.fromAsync(pieces)).flat().map(({ id }) => id);
      expect(ids).toHaveLength(count);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
    }
  });

  test("A page with too much text is rejected, with a hint at what helps", async () => {
    const response = await post("/search", { app: "huge" });
    expect(response.status).toBe(413);
    expect(await response.json()).toStrictEqual({
      detail: expect.stringMatching(/5 results .* 70 MB .* 64 MB.* text_limit.* limit/),
    });
    expect(await search({ app: "huge", text_limit: 10 })).toHaveLength(5);
    expect(await search({ app: "huge", limit: 4 })).toHaveLength(4);
    expect(await search({ app: "long" })).toHaveLength(20);
  });
});
