import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AuditEvent, BudgetListResponse, Goal } from "@presage/contract";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";

let directory: string;
let environment: Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-limits-"));
  const prices = join(directory, "prices.yaml");
  await writeFile(prices, "currency: EUR\nmodels:\n  org/small: { prompt: 1000000, completion: 1000000 }\n");
  environment = {
    PRESAGE_DATABASE_URL: `sqlite:${join(directory, "limits.db")}`,
    PRESAGE_PRICES: prices,
    PRESAGE_UPSTREAM_URL: "http://127.0.0.1:9",
    PRESAGE_UPSTREAM_MODEL: "org/small",
  };
  await runPresage(["migrate"], environment);
});
afterAll(() => rm(directory, { recursive: true }));

const presage = (...args: string[]) => runPresage(args, environment);
const lines = (text: string) => text.trim().split("\n");

test("budgets are shown, set and cleared, of the account and of a key, with events of the audit log", async () => {
  expect((await presage("budget", "show")).stdout).toBe("There is no budget.\n");
  await presage("keys", "create", "--name", "rollouts");
  const { id } = JSON.parse((await presage("keys", "list", "--json")).stdout.split("\n")[0] ?? "");
  const set = await presage("budget", "set", "500", "--stop");
  expect([set.code, set.stderr]).toEqual([0, expect.stringContaining("the next month begins on")]);
  expect(lines(set.stdout)).toEqual([
    expect.stringMatching(/^budget of +limit +spent +share +state +at the limit$/),
    expect.stringMatching(/^the account +500 EUR +0 EUR +0\.0 % +ok +stops$/),
  ]);
  const both = await presage("budget", "set", "50.5", "--key", id.toUpperCase(), "--json");
  expect(BudgetListResponse.parse(JSON.parse(both.stdout))).toMatchObject({
    currency: "EUR",
    data: [
      { api_key_id: null, limit: 500, stops: true, state: "ok" },
      { api_key_id: id, limit: 50.5, stops: false, spent: 0 },
    ],
  });
  const shown = await presage("budget", "show");
  expect([lines(shown.stdout)[0], shown.stderr]).toEqual([
    expect.stringMatching(/at the limit$/),
    expect.not.stringContaining("terminal"),
  ]);
  expect(lines((await presage("budget", "clear")).stdout)).toHaveLength(2);
  expect((await presage("budget", "clear", "--key", id)).stdout).toBe("There is no budget.\n");
  const { stdout } = await presage("audit", "--json");
  const actions = lines(stdout).map((line) => AuditEvent.parse(JSON.parse(line)).action);
  expect(actions.filter((action) => action.startsWith("budget"))).toEqual([
    ...["budget.remove", "budget.remove", "budget.set", "budget.set"],
  ] as never);
});

test("budgets that cannot be are refused in a line", async () => {
  const refused = async (...args: string[]) => {
    const { code, stderr } = await presage("budget", ...args);
    expect(code).toBe(1);
    return stderr.trim();
  };
  expect(await refused("set", "much")).toBe("The amount takes a number");
  expect(await refused("set", "2000000000")).toBe("A budget is an amount from 0 to 1000000000.");
  expect(await refused("set", "5", "--key", "mine")).toContain("--key takes the id of an API key");
  const unknown = "0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50";
  expect(await refused("set", "5", "--key", unknown)).toBe("There is no such API key.");
  const withJudge = {
    ...environment,
    PRESAGE_JUDGE_MODEL: "org/dear",
    PRESAGE_JUDGE_URL: "http://127.0.0.1:9",
  };
  const { code, stderr } = await runPresage(["budget", "set", "5", "--stop"], withJudge);
  expect([code, stderr]).toEqual([1, expect.stringContaining('There is no price for "org/dear"')]);
});

test("goals are set, listed and removed, in the database and on a server", async () => {
  expect((await presage("goals", "list")).stdout).toBe("There is no goal.\n");
  const set = await presage("goals", "set", "nightly", "--evaluator", "exact-match", "--pass-rate", "0.8");
  expect(set.stdout).toBe("Runs named nightly are to pass 80.0 % by exact-match.\n");
  await presage("goals", "set", "other", "--evaluator", "judge=system:matches-gold", "--pass-rate", "0.5");
  const { stdout } = await presage("goals", "list");
  expect(lines(stdout)[1]).toMatch(/^other +judge system:matches-gold +50\.0 % +\d{4}-/);
  expect(
    lines((await presage("goals", "list", "--json")).stdout).map((line) => Goal.parse(JSON.parse(line))),
  ).toMatchObject([
    { run_name: "other", evaluator: "judge", profile_name: "system:matches-gold", pass_rate: 0.5 },
    { run_name: "nightly", profile_name: null, pass_rate: 0.8 },
  ]);
  const server = await startPresage({});
  const remote = (...args: string[]) =>
    runPresage([...args, "--server", server.url], { PRESAGE_API_KEY: testKey });
  await remote("goals", "set", "a/b c", "--evaluator", "exact-match", "--pass-rate", "0.25");
  expect((await remote("goals", "list")).stdout).toContain("a/b c");
  expect((await remote("goals", "remove", "a/b c")).stdout).toBe("Removed.\n");
  expect((await remote("budget", "show")).stdout).toBe("There is no budget.\n");
  await server.stop();
  expect((await presage("goals", "remove", "nightly")).code).toBe(0);
  const again = await presage("goals", "remove", "nightly");
  expect([again.code, again.stderr]).toEqual([1, "Runs of this name have no goal.\n"]);
  const wrong = await presage("goals", "set", "n", "--evaluator", "exact-match", "--pass-rate", "80");
  expect([wrong.code, wrong.stderr]).toEqual([1, "--pass-rate takes a share, from 0 to 1\n"]);
});
