import { expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { EpisodeStart } from "@presage/contract";
import { testKey } from "../support/presage/presage.ts";
import { blocksOf, runBlocks } from "../support/presage/run-blocks.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { toLines } from "../support/resources/datasets.ts";

const presage = usePresage();

function line(step: number): object {
  return { trajectory_id: "t", step, interaction: { state: "s", action: "a" }, next_state: "n" };
}

test("the commands work on the configured database and on a server alike", async () => {
  const directory = await mkdtemp(join(tmpdir(), "presage-datasets-"));
  const file = async (name: string, content: string | Uint8Array) => {
    await Bun.write(join(directory, name), content);
    return join(directory, name);
  };
  const good = await file("good.jsonl", toLines([line(0), line(1)]));
  const gzipped = await file("good.jsonl.gz", gzipSync(toLines([line(0), line(1)])));
  const wrong = await file("wrong.jsonl", toLines([line(0), line(0)]));
  const environment = {
    PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}`,
    PRESAGE_API_KEY: testKey,
  };
  await runPresage(["migrate"], environment);
  for (const place of [[], ["--server", presage.url]]) {
    const run = (...args: string[]) => runPresage(["datasets", ...args, ...place], environment);
    const imported = await run("import", "--name", "kitchen", "--file", good);
    expect([imported.code, imported.stdout, imported.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^Revision 1 of kitchen: 2 samples in 1 trajectory\.\nDataset .+, SHA-256 [0-9a-f]{64}\n$/,
      ),
      "",
    ]);
    expect((await run("import", "--name", "kitchen", "--file", gzipped)).stdout).toBe(imported.stdout);
    const refused = await run("import", "--name", "kitchen", "--file", wrong);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/line.2.*step 0 of trajectory t/),
    ]);
    const shown = JSON.parse((await run("show", "kitchen", "--json")).stdout);
    expect(shown).toMatchObject({ name: "kitchen", revisions: [{ revision: 1, samples: 2 }] });
    expect((await run("list")).stdout).toContain("kitchen");
    const none = await run("from-episodes", "--name", "rollouts", "--environment", "sandbox");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("No episode with a step matches")]);
    expect((await run("list")).stdout).not.toContain("rollouts");
    expect((await run("delete", shown.id)).stdout).toBe("Deleted kitchen.\n");
    const gone = await run("show", "kitchen");
    expect([gone.code, gone.stderr]).toEqual([1, "There is no dataset kitchen.\n"]);
  }
  await rm(directory, { recursive: true });
});

test("episodes of a server become a revision by one command", async () => {
  const start = await presage.call("POST", "/v1/episodes", { environment: "sandbox", index: 0 });
  const { episode_id } = EpisodeStart.parse(await start.json());
  await presage.call("POST", `/v1/episodes/${episode_id}/step`, { action: "activate lantern" });
  const command = ["datasets", "from-episodes", "--name", "rollouts", "--environment", "sandbox"];
  const { code, stdout } = await runPresage([...command, "--server", presage.url], {
    PRESAGE_API_KEY: testKey,
  });
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^Revision 1 of rollouts: 1 sample in 1 trajectory\./),
  ]);
});

test("episodes of one policy become a file and a revision", async () => {
  for (const policy of ["early", "late"]) {
    const start = await presage.call("POST", "/v1/episodes", { environment: "sandbox", index: 0, policy });
    const { episode_id } = EpisodeStart.parse(await start.json());
    await presage.call("POST", `/v1/episodes/${episode_id}/step`, { action: `activate ${policy}` });
  }
  const late = (...words: string[]) =>
    runPresage([...words, "--environment", "sandbox", "--policy", "late", "--server", presage.url], {
      PRESAGE_API_KEY: testKey,
    });
  const { stdout } = await late("episodes", "export");
  expect([stdout.trim().split("\n").length, stdout]).toEqual([1, expect.stringContaining("activate late")]);
  expect((await late("datasets", "from-episodes", "--name", "late")).stdout).toStartWith(
    "Revision 1 of late: 1 sample in 1 trajectory.",
  );
});

test.each([
  ["datasets from-episodes --name x --environment k --from yesterday", /^--from: .* datetime/],
  ["episodes export --from yesterday --revision one", /^--revision: .* integer; --from: .* datetime/],
  ["episodes export --environment k --min-reward much", /^--min-reward: Input should be a valid number/],
  ["run --dataset d --evaluator exact-match --limit 1 --draw-seed -1", /^--draw-seed: Input/],
])("%s is refused by the names of its options", async (command, expected) => {
  const { code, stderr } = await runPresage([...command.split(" "), "--server", presage.url], {
    PRESAGE_API_KEY: testKey,
  });
  expect([code, stderr]).toEqual([1, expect.stringMatching(expected)]);
});

test("the commands of docs/datasets.md run in their order, and say what the page says", async () => {
  const page = await readFile(resolve(import.meta.dir, "../../../../docs/datasets.md"), "utf8");
  const folder = await mkdtemp(join(tmpdir(), "presage-datasets-page-"));
  const { failure, stdout, stderr } = await runBlocks(presage, blocksOf(page), { folder });
  expect(failure).toBe("");
  const revisions = [...stdout.matchAll(/^\{"revision":(\d).*?"digest":"(\w+)"/gm)];
  expect(revisions.map(([, revision]) => revision)).toEqual(["1", "1", "2"]);
  expect(stdout).toContain(`${revisions[0]?.[2]}  -`);
  expect(stdout).toEndWith("Deleted kitchen.\n");
  expect(stderr).toContain('"name":"kitchen"');
  await rm(folder, { recursive: true });
});
