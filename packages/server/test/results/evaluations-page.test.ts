import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { blocksOf, type RanBlocks, runBlocks } from "../support/presage/run-blocks.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { failing, say } from "../support/upstream/judge.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const page = await readFile(resolve(import.meta.dir, "../../../../docs/evaluations.md"), "utf8");
const startOfJudges = page.indexOf("\n## Judges");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "presage-evaluations-page-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts a server on a new database, as `npm start` does. */
function startServer(environment: Record<string, string> = {}): Promise<SpawnedPresage> {
  const database = join(folder, `${crypto.randomUUID()}.db`);
  return spawnPresage({ PRESAGE_DATABASE_URL: `sqlite:${database}`, ...environment });
}

/** The statuses of all evaluations that were shown. */
function statusesIn({ stdout, stderr }: RanBlocks) {
  return new Set([...(stdout + stderr).matchAll(/"status":"(\w+)"/g)].map(([, status]) => status));
}

describe("docs/evaluations.md", () => {
  const judge = useUpstream();

  slowTest("runs up to the judges on a new server that has no model", async () => {
    await using presage = await startServer();
    const ran = await runBlocks(presage, blocksOf(page.slice(0, startOfJudges)), { folder });
    expect(ran.failure).toBe("");
    expect(statusesIn(ran)).toEqual(new Set(["success"]));
    // The export has the four passes of all evaluations.
    expect(ran.stdout.trim().split("\n").slice(-5)[0]).toStartWith("id,");
  });

  test("runs as a whole on a new server with a model for judges", async () => {
    judge.answer = ({ text }) =>
      say(
        text.includes("opened by itself")
          ? { reasoning: "Nobody opened it.", categories: [{ id: "E1", reason: "It was closed." }] }
          : failing,
      );
    await using presage = await startServer({ PRESAGE_JUDGE_URL: judge.url });
    const ran = await runBlocks(presage, blocksOf(page), { folder });
    expect(ran.failure).toBe("");
    expect(statusesIn(ran)).toEqual(new Set(["success"]));
    expect(judge.received).toHaveLength(2);
    const ends = ran.stdout.trim().split("\n").slice(-2);
    expect(ends.map((line) => JSON.parse(line))).toMatchObject([
      { evaluated: 1, findings: [{ count: 1 }] },
      { evaluated: 1, models: [{ findings: [{ count: 1 }] }] },
    ]);
  });

  slowTest("stops at a call that the server refuses", async () => {
    await using presage = await startServer();
    const { code, stdout } = await runBlocks(presage, blocksOf(page), {
      folder,
      apiKey: "psg_wrong",
    });
    expect(code).not.toBe(0);
    expect(stdout).not.toContain("success");
  });
});
