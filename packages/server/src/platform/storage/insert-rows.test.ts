import { expect, test } from "bun:test";
import { onEachDatabase } from "../../../test/support/store/databases.ts";
import { openDatabase } from "./open.ts";
import { insertRows } from "./rows.ts";
import type { EvaluationResultsTable, EvaluationTagsTable } from "./schema/results.ts";

/** A row whose nullable columns are null. */
const emptyRow: EvaluationResultsTable = {
  id: 1,
  account_id: "account",
  created_at: 0,
  app: "",
  evaluator_id: "exact-match-2026-11-21",
  evaluator_family: null,
  profile_name: null,
  profile_public_id: null,
  profile_revision: null,
  status: "success",
  explain_strategy: "always",
  dataset_id: null,
  run_id: null,
  cluster_id: null,
  is_equal: 0,
  project_id: null,
  experiment_id: null,
  sample_key: null,
  is_external: 0,
  pass: null,
  score: null,
  counted_pass: null,
  counted_score: null,
  score_mille: null,
  request_key: null,
};

function tags(count: number): EvaluationTagsTable[] {
  return Array.from({ length: count }, (_, index) => ({
    account_id: "account",
    name: "place",
    value: `${index}`,
    result_id: index,
  }));
}

onEachDatabase(({ create }) => {
  async function open() {
    const { database, destroy } = await openDatabase(await create(), () => {});
    return { database, [Symbol.asyncDispose]: destroy };
  }

  test("integers, doubles, texts and nulls are read as they were written", async () => {
    await using opened = await open();
    const rows: EvaluationResultsTable[] = [
      emptyRow,
      {
        ...emptyRow,
        id: Number.MAX_SAFE_INTEGER,
        created_at: 1_795_219_200_000_000,
        app: "日本語 😀 e\u0301 ' \" $1 ? \\ \n",
        profile_revision: 2_147_483_647,
        pass: 1,
        score: 0.1 + 0.2,
        counted_pass: 0,
        counted_score: -1e-300,
        score_mille: -1,
        run_id: "r".repeat(100_000),
      },
    ];
    await insertRows(opened.database, "evaluation_results", rows);
    expect(
      await opened.database.selectFrom("evaluation_results").selectAll().orderBy("id").execute(),
    ).toEqual(rows);
  });

  test("rows may have their columns in any order", async () => {
    await using opened = await open();
    const rows = [
      { account_id: "account", name: "first", value: "one", result_id: 1 },
      { value: "two", result_id: 2, name: "second", account_id: "account" },
    ];
    await insertRows(opened.database, "evaluation_tags", rows);
    expect(
      await opened.database.selectFrom("evaluation_tags").selectAll().orderBy("result_id").execute(),
    ).toEqual(rows);
  });

  // On PostgreSQL, the second has one row too many for a statement of four columns, and the third needs three statements.
  test.each([8_000, 8_001, 20_000])(
    "%d rows are inserted, in several statements if necessary",
    async (count) => {
      await using opened = await open();
      await insertRows(opened.database, "evaluation_tags", tags(count));
      expect(
        await opened.database.selectFrom("evaluation_tags").selectAll().orderBy("result_id").execute(),
      ).toEqual(tags(count));
    },
  );

  test("a transaction rolls back all rows if one of the last is refused", async () => {
    await using opened = await open();
    const rows = [...tags(8_001), ...tags(1)];
    const inserting = opened.database
      .transaction()
      .execute((transaction) => insertRows(transaction, "evaluation_tags", rows));
    await expect(inserting).rejects.toThrow(/unique/i);
    expect(await opened.database.selectFrom("evaluation_tags").selectAll().execute()).toEqual([]);
  });

  test("without a transaction, no row is inserted if the last is refused", async () => {
    await using opened = await open();
    const inserting = insertRows(opened.database, "evaluation_tags", [...tags(3), ...tags(1)]);
    await expect(inserting).rejects.toThrow(/unique/i);
    expect(await opened.database.selectFrom("evaluation_tags").selectAll().execute()).toEqual([]);
  });

  test("no rows are no error", async () => {
    await using opened = await open();
    await insertRows(opened.database, "evaluation_tags", []);
    expect(await opened.database.selectFrom("evaluation_tags").selectAll().execute()).toEqual([]);
  });
});
