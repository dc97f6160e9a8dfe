import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";

const presage = usePresage();
let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-reality-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** One simulated success in each of 40 tasks, of which this many fail in reality. */
const outcomes = (failing: number, tasks = 40) =>
  Array.from({ length: tasks }, (_, task) =>
    JSON.stringify({ task_id: `t${task}`, policy: "step-400", simulated: true, real: task >= failing }),
  ).join("\n");

test.each(["the configured database", "a server"])("reality gates by the interval, in %s", async (place) => {
  const variables = {
    PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}`,
    PRESAGE_API_KEY: testKey,
  };
  await runPresage(["migrate"], variables);
  const flags = place === "a server" ? ["--server", presage.url] : [];
  const reality = (...args: string[]) => runPresage(["reality", ...args, ...flags], variables);
  const file = join(directory, "outcomes.jsonl");
  const gate = async (failing: number, ...more: string[]) => {
    await Bun.write(file, outcomes(failing));
    return await reality("--pairs", file, "--name", "n", "--max-false-success", "0.3", ...more);
  };
  expect(await gate(2)).toMatchObject({ code: 0 });
  const above = await gate(30);
  expect([above.code, above.stderr]).toEqual([2, expect.stringContaining("is above --max-false-success")]);
  expect(above.stdout).toContain(
    "Of 40 episodes in 40 tasks that succeeded in simulation, 30 failed in reality",
  );
  const [, table = ""] = above.stdout.split("\n\n");
  expect(Math.max(...table.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(100);
  expect(await gate(12)).toMatchObject({ code: 3 });
  expect(await gate(12, "--undecided", "pass")).toMatchObject({ code: 0 });
  expect(await gate(12, "--undecided", "fail")).toMatchObject({ code: 2 });

  await Bun.write(file, `${outcomes(2)}\n{"task_id": "t", "simulated": "yes", "real": true}`);
  const refused = await reality("--pairs", file, "--name", "n");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(":41: simulated: ")]);

  await Bun.write(file, `${outcomes(2)}\n\n${outcomes(1, 1)}`);
  const twice = await reality("--pairs", file, "--name", "n");
  expect(twice.stderr).toContain(":42: The same task, episode and policy are in line 1");

  await Bun.write(file, outcomes(4));
  const nowhere = await reality("nowhere", "--pairs", file, "--name", "n");
  expect([nowhere.code, nowhere.stderr]).toEqual([
    1,
    expect.stringMatching(/^(http\S+ )?body\.environment: .*|^There is no environment of this name\.\n$/),
  ]);
  expect(await reality("sandbox", "--pairs", file, "--name", "n")).toMatchObject({ code: 0 });
  const ofEnvironment = await reality("sandbox", "--policy", "step-400", "--json");
  expect(JSON.parse(ofEnvironment.stdout)).toMatchObject({ counts: { only_simulated: 4, both: 36 } });

  const later = await reality("sandbox", "--from", "2100-01-01T00:00:00Z", "--json");
  expect(JSON.parse(later.stdout)).toMatchObject({ counts: { only_simulated: 0, both: 0 } });
  const contradiction = await reality(
    "sandbox",
    "--from",
    "2100-01-01T00:00:00Z",
    "--pairs",
    file,
    "--name",
    "n",
  );
  expect(contradiction.stderr).toContain("--from is for the figures of checks that there are");

  const pessimistic = JSON.stringify({ task_id: "t", simulated: false, real: true });
  await Bun.write(
    file,
    Array.from({ length: 6 }, (_, task) => pessimistic.replace('"t"', `"t${task}"`)).join("\n"),
  );
  const { stdout } = await reality("--pairs", file, "--name", "n");
  expect(stdout).toMatch(/^bias, points +−100\.0 /m);
});

test("a new check of recordings is waited for, and a server is needed for it", async () => {
  const step = {
    trajectory_id: "t",
    step: 0,
    interaction: { state: "A lantern.", action: "activate lantern" },
  };
  const file = join(directory, "recorded.jsonl");
  await Bun.write(file, JSON.stringify({ ...step, next_state: "The lantern is now activated.", reward: 1 }));
  const variables = { PRESAGE_API_KEY: testKey };
  const stop = [{ output_contains: "activated", outcome: "success" }];
  await presage.call("POST", "/v1/environments", { name: "lanterns", stop });
  const args = ["reality", "lanterns", "--dataset", file];
  const played = await runPresage([...args, "--server", presage.url, "--name", "recorded"], variables);
  expect([played.code, played.stderr]).toEqual([0, expect.stringContaining(": recorded, 1 episode\n")]);
  expect(played.stdout).toContain("episodes");
  const [, table = ""] = played.stdout.split("\n\n");
  for (const line of table.split("\n")) expect(line.length).toBeLessThanOrEqual(100);

  const many = join(directory, "many.jsonl");
  const lines = Array.from({ length: 300 }, (_, index) => ({
    ...step,
    trajectory_id: `t${index}`,
    next_state: "",
  }));
  await Bun.write(many, lines.map((line) => JSON.stringify(line)).join("\n"));
  const impatient = ["reality", "lanterns", "--dataset", many, "--timeout", "0.001", "--server", presage.url];
  const late = await runPresage(impatient, variables);
  expect([late.code, late.stderr]).toEqual([
    1,
    expect.stringMatching(/goes on: \d+\/300 episodes, 0 failed\./),
  ]);
  const never = await runPresage(["reality", "sandbox", "--episodes", "3", "--timeout", "0"], variables);
  expect(never.stderr).toContain("--timeout takes a number of seconds above 0");
  const idle = await runPresage(["reality", "sandbox", "--timeout", "5"], variables);
  expect(idle.stderr).toContain("--timeout needs --episodes or --dataset");

  const own = { PRESAGE_DATABASE_URL: `sqlite:${join(directory, "own.db")}` };
  await runPresage(["migrate"], own);
  const alone = await runPresage(["reality", "sandbox", "--dataset", file], own);
  expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining("replayed by a server")]);
  const both = await runPresage(["reality", "sandbox", "--dataset", file, "--episodes", "3"], own);
  expect(both.stderr).toContain("Give one of --pairs, --episodes and --dataset");
});

test("a check that somebody cancels has no figures, and passes no gate, even if its server restarts meanwhile", async () => {
  const made = { id: "check-1", name: "nightly", waiting: 3, episodes: 0, failed: 0 };
  let polls = 0;
  await using server = Bun.serve({
    port: 0,
    fetch: ({ method }) => {
      if (method === "POST") return Response.json(made);
      polls += 1;
      // A proxy's answer while there is no server behind it.
      if (polls === 1) return new Response("Bad Gateway", { status: 502 });
      return Response.json({ ...made, status: "cancelled", reason: null });
    },
  });
  const args = ["reality", "sandbox", "--episodes", "3", "--server", server.url.origin];
  const { code, stderr } = await runPresage(args, { PRESAGE_API_KEY: testKey });
  expect([code, stderr]).toEqual([1, expect.stringContaining("The reality check check-1 is cancelled.\n")]);
});
