import { expect, test } from "bun:test";
import { sql } from "kysely";
import { openDatabase } from "./open.ts";
import { prepareStatement } from "./rows.ts";

test("a statement is built once, and each execution has its own values", async () => {
  const { database, destroy } = await openDatabase("sqlite::memory:", () => {});
  let built = 0;
  const double = prepareStatement((on) => {
    built += 1;
    return on.selectNoFrom(sql<number>`2 * ${0}`.as("twice"));
  });
  expect(await double(database, [4])).toEqual([{ twice: 8 }]);
  expect(await double(database, [5])).toEqual([{ twice: 10 }]);
  expect(built).toBe(1);
  await expect(double(database, [])).rejects.toThrow("has 1 values, and 0 are given");
  await destroy();
});
