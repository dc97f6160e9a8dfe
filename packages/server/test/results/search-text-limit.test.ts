import { beforeAll, expect, test } from "bun:test";
import type { KyselyPlugin } from "kysely";
import { selectResults } from "../../src/results/write/stored-results-store.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { type StoredFields, storeResults } from "../support/store/store-results.ts";

const text = '🚪"door\n';
const long = {
  metadata: { app: "long" },
  sample: {
    systemPrompt: `s${text}`,
    retrievedContext: [`c${text}`, "", "🚪".repeat(9), "short"],
    input: `i${text}`,
    output: `o${text}`,
    goldAnswer: `g${text}`,
  },
  outcome: { status: "success", pass: true, score: 1, explanation: `e${text}` },
} satisfies StoredFields;
const empty = {
  metadata: { app: "empty" },
  sample: { retrievedContext: [], output: "" },
} satisfies StoredFields;

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { post, search, find } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    await using store = await openStore(presage.databaseUrl);
    await storeResults(store.database, store.owner.account_id, [long, empty]);
  });

  test("Longer texts are truncated to the limit, under new and old names, without splitting a character", async () => {
    const [found] = await search({ app: "long", text_limit: 2 });
    expect(found).toMatchObject({
      evaluated_model_system_prompt: "s🚪",
      evaluated_model_retrieved_context: ["c🚪", "", "🚪🚪", "sh"],
      evaluated_model_input: "i🚪",
      evaluated_model_output: "o🚪",
      evaluated_model_gold_answer: "g🚪",
      explanation: "e🚪",
      system_prompt: "s🚪",
      retrieved_context: ["c🚪", "", "🚪🚪", "sh"],
      input: "i🚪",
      output: "o🚪",
      label: "g🚪",
    });
    const [whole] = await search({ app: "long" });
    expect(whole?.evaluated_model_output).toBe(`o${text}`);
    expect(await find(found?.id ?? "")).toEqual(whole ?? expect.anything());
  });

  test.each([9, 10, 1_000_000])("Texts of at most %d characters are complete", async (limit) => {
    expect(await search({ app: "long", text_limit: limit })).toEqual(await search({ app: "long" }));
  });

  test("Empty and absent texts are unchanged", async () => {
    const whole = await search({ app: "empty" });
    expect(whole).toMatchObject([{ input: null, output: "", retrieved_context: [], explanation: null }]);
    for (const text_limit of [1, 2, null]) expect(await search({ app: "empty", text_limit })).toEqual(whole);
  });

  test("The database truncates, so long texts are not read from it", async () => {
    await using store = await openStore(presage.databaseUrl);
    const huge = "x".repeat(300_000);
    const [stored] = await storeResults(store.database, store.owner.account_id, [
      { sample: { retrievedContext: Array(50).fill(huge), input: huge, output: huge } },
    ]);
    let longest = 0;
    const watch: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        const texts = result.rows
          .flatMap((row) => Object.values(row))
          .filter((value) => typeof value === "string");
        longest = Math.max(longest, ...texts.map(({ length }) => length));
        return result;
      },
    };
    const [result] = await selectResults(
      store.database.withPlugin(watch),
      store.owner.account_id,
      [stored?.id ?? 0],
      10,
    );
    expect(result?.sample.retrievedContext).toEqual(Array(50).fill("x".repeat(10)));
    expect(longest).toBeLessThan(1_000);
  });

  test("An invalid limit is rejected", async () => {
    for (const [text_limit, type] of [
      [0, "greater_than_equal"],
      [1_000_001, "less_than_equal"],
      [1.5, "int_type"],
      ["9", "int_type"],
    ] as const) {
      const issues = locationsOf(await issuesOf(await post("/search", { text_limit })));
      expect(issues).toEqual([{ type, loc: ["body", "text_limit"] }]);
    }
  });
});
