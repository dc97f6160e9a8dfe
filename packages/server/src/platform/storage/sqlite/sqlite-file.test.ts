import { Database, type Statement } from "bun:sqlite";
import { afterAll, afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createStatementCache,
  createWriteTurn,
  openSqlite,
  type StatementCache,
  writerData,
} from "./sqlite-file.ts";

const directory = mkdtempSync(join(tmpdir(), "presage-open-sqlite-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** The locks on a file, as Linux lists them. */
function locksOn(path: string): string[] {
  const { ino } = statSync(path);
  const locks = readFileSync("/proc/locks", "utf8").split("\n");
  return locks.filter((line) => line.split(" ").some((word) => word.endsWith(`:${ino}`)));
}

test.if(process.platform === "linux")(
  "A second connection leaves the first one its lock, without which other programs delete the log of a database in use",
  () => {
    const path = join(directory, "shared.db");
    const writer = openSqlite(path);
    writer.run("create table things (name text)");
    const alone = locksOn(path);
    expect(alone).toHaveLength(1);
    const reader = openSqlite(path);
    expect(locksOn(path).length).toBeGreaterThanOrEqual(alone.length);
    reader.close();
    writer.close();
  },
);

test("A new file is readable by its owner only", () => {
  const path = join(directory, "new", "private.db");
  openSqlite(path).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

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

test("a turn is taken by one, and nobody waits for ever for one that is not given back", () => {
  const { turn } = writerData("/one.db");
  const first = createWriteTurn(turn);
  const second = createWriteTurn(turn);
  const state = new Int32Array(turn);
  first.take();
  second.take();
  second.give();
  expect(Atomics.load(state, 0)).toBe(1);
  first.give();
  expect(Atomics.load(state, 0)).toBe(0);
});

test("a thread that waits goes on when the turn is given", async () => {
  const { turn } = writerData("/two.db");
  const first = createWriteTurn(turn);
  first.take();
  const worker = new Worker(
    URL.createObjectURL(
      new Blob([
        `import { createWriteTurn } from ${JSON.stringify(import.meta.resolve("./sqlite-file.ts"))};
         self.onmessage = ({ data }) => { postMessage("waits"); const turn = createWriteTurn(data); turn.take(); turn.give(); postMessage("done"); };`,
      ]),
    ),
  );
  const said: string[] = [];
  const done = Promise.withResolvers<void>();
  worker.onmessage = ({ data }) => {
    said.push(data);
    if (data === "waits") first.give();
    else done.resolve();
  };
  worker.postMessage(turn);
  await done.promise;
  worker.terminate();
  expect(said).toEqual(["waits", "done"]);
  expect(Atomics.load(new Int32Array(turn), 0)).toBe(0);
});

test("threads that write one file share a turn, and those of another have their own", () => {
  expect(writerData("/three.db").turn).toBe(writerData("/three.db").turn);
  expect(writerData("/three.db").turn).not.toBe(writerData("/four.db").turn);
});

test("a thread that starts leaves others their turn, unless it replaces one that died in it", () => {
  const path = "/six.db";
  const memory = new Int32Array(writerData(path).turn);
  createWriteTurn(writerData(path).turn).take();
  writerData(path);
  expect(Atomics.load(memory, 0)).toBe(1);
  writerData(path, true);
  expect(Atomics.load(memory, 0)).toBe(0);
});

test("a thread that gives way takes its turn only when no other waits", () => {
  const { turn } = writerData("/five.db");
  const memory = new Int32Array(turn);
  const polite = createWriteTurn(turn, { givesWay: true });
  // Another thread waits.
  Atomics.add(memory, 1, 1);
  polite.take();
  expect(Atomics.load(memory, 0)).toBe(0);
  polite.give();
  Atomics.sub(memory, 1, 1);
  polite.take();
  expect(Atomics.load(memory, 0)).toBe(1);
  polite.give();
  expect([...memory]).toEqual([0, 0]);
});
