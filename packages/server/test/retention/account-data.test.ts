import { afterAll, beforeAll, expect, test } from "bun:test";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Dataset, Run } from "@presage/contract";
import { eventually, expectEventually } from "../support/eventually.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { mainFile } from "../support/presage/main-file.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeResults } from "../support/store/store-results.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { expectSoundRollups } from "./expect-sound-rollups.ts";
import { resultAt } from "./many-results.ts";

onEachDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_CAPTURE: "all" });
  let folder: string;
  let exported: string;

  const run = (url: string, ...args: string[]) => runPresage(args, { PRESAGE_DATABASE_URL: url });
  const read = (name: string) => Bun.file(join(folder, name)).text();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "presage-test-"));
    await makeEverything();
    const ran = await run(presage.databaseUrl, "export", join(folder, "first.jsonl"));
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining("no secrets of keys")]);
    exported = await read("first.jsonl");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function make(path: string, body?: unknown) {
    const response = await presage.call("POST", path, body);
    expect([path, response.ok]).toEqual([path, true]);
    // biome-ignore lint/suspicious/noExplicitAny: each of the answers has a shape of its own
    return (await response.json()) as any;
  }

  async function makeEverything(): Promise<void> {
    const interaction = { state: "A door.", action: "open it" };
    await make("/v1/predict", { interaction });
    await make("/v1/evaluator-profiles", {
      evaluator_family: "contains",
      name: "has-door",
      config: { substrings: ["door"] },
    });
    await make("/v1/error-taxonomy-revision", {
      error_taxonomy_name: "mistakes",
      body: { categories: ["form"] },
      labels: ["now"],
    });
    await make("/v1/projects", { name: "kitchen" });
    const dataset = Dataset.parse(await make("/v1/datasets", { name: "doors" }));
    const sample = { trajectory_id: "t", step: 0, interaction, next_state: "An open door." };
    await make(`/v1/datasets/${dataset.id}/revisions`, sample);
    const { id } = Run.parse(
      await make("/v1/runs", {
        dataset_id: dataset.id,
        target: { baseline: "no-change" },
        evaluators: [{ evaluator: "exact-match" }],
      }),
    );
    await eventually(
      async () => Run.parse(await (await presage.call("GET", `/v1/runs/${id}`)).json()).status,
      (status) => status === "finished",
    );
    await make("/v1/runs", {
      dataset_id: dataset.id,
      target: { predictions: "imported" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    const { episode_id } = await make("/v1/episodes", { environment: "sandbox", index: 0 });
    await make(`/v1/episodes/${episode_id}/step`, { action: "open door" });
    await using opened = await openStore(presage.databaseUrl);
    const { account_id } = opened.owner;
    const fields = Array.from({ length: 60 }, (_, index) => resultAt(index));
    const [first] = await storeResults(opened.database, account_id, fields.slice(1));
    await make(`/v1/evaluation-results/${first?.id}/correction`, { pass: false, score_raw: 0.1 });
    const table = opened.database.selectFrom("usage_counts").select("hour");
    const predictions = opened.database.selectFrom("predictions").select("id").where("source", "=", "live");
    await eventually(
      async () => [await table.execute(), await predictions.execute()],
      (found) => found.every((rows) => rows.length > 0),
    );
  }

  test("What was exported and imported into an empty database is exported as the same file, and is counted", async () => {
    const tables = new Set(exported.split("\n").map((line) => line && JSON.parse(line).table));
    expect(tables.size).toBeGreaterThan(18);
    expect(exported).not.toContain(testKey);
    const url = await database.create();
    const imported = await run(url, "import", join(folder, "first.jsonl"));
    expect([imported.code, imported.stderr]).toEqual([0, expect.stringContaining("are revoked")]);
    const again = await run(url, "export", join(folder, "second.jsonl"));
    expect(again.code).toBe(0);
    expect((await read("second.jsonl")).split("\n")).toEqual(exported.split("\n"));

    const refused = await run(url, "import", join(folder, "first.jsonl"));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("has data already")]);
    const other = await startPresage({ PRESAGE_DATABASE_URL: url });
    await using opened = await openStore(url);
    await expectSoundRollups(other, opened.database);
    // What is stored next has a number of its own.
    await storeResults(opened.database, opened.owner.account_id, [resultAt(1)]);
    await expectSoundRollups(other, opened.database);
    await other.stop();
  });

  test("An import that is killed has stored nothing, and the next one stores everything once", async () => {
    const url = await database.create();
    const pipe = join(folder, `pipe-${database.name}`);
    expect(await Bun.spawn(["mkfifo", pipe]).exited).toBe(0);
    const killed = Bun.spawn([process.execPath, mainFile, "import", pipe], {
      env: { PATH: process.env.PATH ?? "", PRESAGE_DATABASE_URL: url },
      stdout: "ignore",
      stderr: "ignore",
    });
    killAfterTests(killed);
    const lines = exported.split("\n");
    const writing = createWriteStream(pipe);
    await new Promise((written) => writing.write(`${lines.slice(0, -10).join("\n")}\n`, written));
    killed.kill("SIGKILL");
    await killed.exited;
    writing.destroy();
    // PostgreSQL notices a moment later that its client is gone.
    await expectEventually(async () => (await run(url, "import", join(folder, "first.jsonl"))).code, 0);
    expect((await run(url, "export", join(folder, "killed.jsonl"))).code).toBe(0);
    expect((await read("killed.jsonl")).split("\n")).toEqual(lines);
  });

  test("Of a file that is cut, damaged or of another schema nothing is stored", async () => {
    const url = await database.create();
    const lines = exported.trimEnd().split("\n");
    const damaged: [string, string[]][] = [
      ["ends before its last line", lines.slice(0, -1)],
      ["rows, but should have", [...lines.slice(0, -2), ...lines.slice(-1)]],
      ["Line 3 is not one", [...lines.slice(0, 2), lines[2]?.slice(0, 20) ?? "", ...lines.slice(3)]],
      ["has no column", [...lines.slice(0, 2), '{"table":"projects","row":{"id) --":1}}', ...lines.slice(2)]],
      ["from another version", [lines[0]?.replace("027-", "020-") ?? "", ...lines.slice(1)]],
    ];
    for (const [reason, some] of damaged) {
      await Bun.write(join(folder, "damaged.jsonl"), `${some.join("\n")}\n`);
      const ran = await run(url, "import", join(folder, "damaged.jsonl"));
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(reason)]);
    }
    expect((await run(url, "import", join(folder, "first.jsonl"))).code).toBe(0);
  });
});
