import { Database, type Statement } from "bun:sqlite";
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { createStatementCache, type StatementCache } from "./sqlite-file.ts";

let database: Database;
let cache: StatementCache;

beforeEach(() => {
  database = new Database(":memory:");
  database.run("create table notes (body text, more blob)");
  cache = createStatementCache(database);
});
afterEach(() => cache.close());

const insert = "insert into notes (body, more) values (?, ?) returning length(body) as size";
const megabyte = "x".repeat(1_000_000);

/** How often a statement that is run twice with these parameters is prepared. */
function preparedFor(...parameters: unknown[]): number {
  using prepare = spyOn(database, "prepare");
  for (let round = 0; round < 2; round++) cache.prepare(insert).all(parameters);
  return prepare.mock.calls.length;
}

function expectClosed(prepared: { value: unknown }[]): void {
  for (const { value } of prepared) expect(() => (value as Statement).all()).toThrow("finalized");
}

test("a statement is prepared once", () => {
  expect(preparedFor("short", null)).toBe(1);
});

test("a statement that was run with long texts or bytes is let go, which would keep them", () => {
  using prepare = spyOn(database, "prepare");
  expect(cache.prepare(insert).all([megabyte, null])).toEqual([{ size: megabyte.length }]);
  expect(prepare.mock.results).toHaveLength(1);
  expectClosed(prepare.mock.results);
  prepare.mockRestore();
  expect(preparedFor(megabyte, null)).toBe(2);
  expect(preparedFor(null, new Uint8Array(1_000_000))).toBe(2);
});

test("a statement is also let go if it fails, and if its rows are read one by one", () => {
  using prepare = spyOn(database, "prepare");
  expect(() => cache.prepare("insert into notes values (json(?), null)").run([megabyte])).toThrow("JSON");
  const { iterate } = cache.prepare("select length(?) as size union all select 0");
  expect([...iterate([megabyte])]).toEqual([{ size: megabyte.length }, { size: 0 }]);
  expect(prepare.mock.results).toHaveLength(2);
  expectClosed(prepare.mock.results);
});

test("a statement is executed for each of several rows", () => {
  expect(
    cache.prepare(insert).all([
      ["a", null],
      ["bc", null],
    ]),
  ).toEqual([{ size: 1 }, { size: 2 }]);
  cache.prepare("insert into notes values (?, ?)").run([
    ["d", null],
    ["e", null],
  ]);
  expect(database.query("select body from notes").values()).toEqual([["a"], ["bc"], ["d"], ["e"]]);
});

test("a statement is let go if the last of its rows is long, or one that fails", () => {
  using prepare = spyOn(database, "prepare");
  const short = ["short", null];
  cache.prepare(insert).all([short, [megabyte, null]]);
  expect(() =>
    cache.prepare("insert into notes values (json(?), null)").run([['"short"'], [megabyte], ['"short"']]),
  ).toThrow("JSON");
  expectClosed(prepare.mock.results);
  prepare.mockRestore();
});
