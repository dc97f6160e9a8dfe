import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runPresage } from "../../support/presage/run-presage.ts";
import { createPostgresDatabase } from "../../support/store/databases.ts";
import { connectTo } from "../../support/store/postgres.ts";

const commands = [
  ["keys", "list"],
  ["keys", "create", "--name", "training"],
  ["keys", "revoke", crypto.randomUUID()],
  ["users", "list"],
  ["users", "end", "ada@example.org"],
  ["sign-in"],
  ["results", "mend-times"],
];

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-missing-"));
});
afterAll(() => rm(directory, { recursive: true }));

describe("On a misspelt path", () => {
  test.each(commands)(
    "presage %s %s %s %s creates nothing and says that there is no database",
    async (...args) => {
      const folder = join(directory, "dta");
      const path = join(folder, "presage.db");
      const ran = await runPresage(args, { PRESAGE_DATABASE_URL: `sqlite:${path}` });
      expect([ran.code, ran.stdout]).toEqual([1, ""]);
      expect(ran.stderr).toMatch(/^There is no Presage database at .*\bnpx presage migrate\b.*\n$/);
      expect(ran.stderr).toContain(path);
      expect(existsSync(folder)).toBe(false);
    },
  );

  test("migrate creates one, on which they work", async () => {
    const environment = { PRESAGE_DATABASE_URL: `sqlite:${join(directory, "new", "presage.db")}` };
    expect((await runPresage(["migrate"], environment)).code).toBe(0);
    expect(await runPresage(["keys", "list"], environment)).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("presage evaluate creates no database if it is refused:", () => {
  const path = (name: string) => join(directory, name);
  beforeAll(async () => {
    await Bun.write(path("lines.jsonl"), '{"evaluated_model_output": "a"}\n');
    await Bun.write(path("other.jsonl"), '{"line": 1}\n');
  });

  test.each([
    ["a misspelt evaluator", ["exact-mach"], "--evaluator exact-mach: Unknown evaluator; available: "],
    [
      "a misspelt profile",
      ["exact-match=nothing"],
      "--evaluator exact-match=nothing: The family exact-match",
    ],
    ["no profile", ["judge"], "--evaluator judge: name a profile, as FAMILY=PROFILE\n"],
    ["no model", ["judge=system:is-concise"], "--evaluator judge=system:is-concise: needs a model; "],
    ["a bad option", ["exact-match", "--min-pass-rate", "2"], "--min-pass-rate takes a number from 0 to 1\n"],
    ["a missing file", ["exact-match", "--file", "no-such.jsonl"], "There is no file "],
    [
      "an unfit output",
      ["exact-match", "--out", "other.jsonl"],
      "contains something other than evaluations; nothing was changed.",
    ],
  ])("%s", async (_, [evaluator = "", option, value = ""], message) => {
    const options = option === undefined ? [] : [option, value.endsWith("l") ? path(value) : value];
    const args = ["evaluate", "--file", path("lines.jsonl"), "--evaluator", evaluator, ...options];
    const folder = path(crypto.randomUUID());
    const ran = await runPresage(args, { PRESAGE_DATABASE_URL: `sqlite:${join(folder, "presage.db")}` });
    expect([ran.code, ran.stdout]).toEqual([1, ""]);
    expect(ran.stderr).toContain(message);
    expect(existsSync(folder)).toBe(false);
  });

  test("otherwise it does", async () => {
    await Bun.write(
      path("good.jsonl"),
      '{"evaluated_model_output": "a", "evaluated_model_gold_answer": "a"}\n',
    );
    const args = ["evaluate", "--file", path("good.jsonl"), "--evaluator", "exact-match"];
    const database = join(path("used"), "presage.db");
    expect((await runPresage(args, { PRESAGE_DATABASE_URL: `sqlite:${database}` })).code).toBe(0);
    expect(existsSync(database)).toBe(true);
  });
});

test("a relative path is shown in full", async () => {
  const { stderr } = await runPresage(["keys", "list"], {
    PRESAGE_DATABASE_URL: "sqlite:no-such/presage.db",
  });
  expect(stderr).toContain(` ${join(tmpdir(), "no-such/presage.db")}. `);
});

test("a database of another program is left as it is", async () => {
  const path = join(directory, "other.db");
  const other = new Database(path);
  other.run("create table notes (text)");
  other.close();
  const before = await Bun.file(path).bytes();
  const { code, stderr } = await runPresage(["keys", "list"], { PRESAGE_DATABASE_URL: `sqlite:${path}` });
  expect([code, stderr]).toEqual([1, expect.stringContaining(path)]);
  expect(await Bun.file(path).bytes()).toEqual(before);
});

test("an empty PostgreSQL database stays empty, and its password is not shown", async () => {
  const url = new URL(await createPostgresDatabase());
  expect(url.password).not.toBe("");
  const lines = join(directory, "postgres.jsonl");
  await Bun.write(lines, '{"evaluated_model_output": "a"}\n');
  const evaluate = ["evaluate", "--file", lines, "--evaluator", "exact-mach"];
  expect((await runPresage(evaluate, { PRESAGE_DATABASE_URL: url.href })).code).toBe(1);
  for (const args of commands) {
    const { code, stderr } = await runPresage(args, { PRESAGE_DATABASE_URL: url.href });
    expect([code, stderr]).toEqual([1, expect.stringContaining(` postgres://${url.host}${url.pathname}. `)]);
    expect(stderr).not.toContain(url.password);
  }
  const client = await connectTo(url.href);
  const { rows } = await client.query(
    "select 1 from information_schema.tables where table_schema = 'public'",
  );
  await client.end();
  expect(rows).toEqual([]);
});
