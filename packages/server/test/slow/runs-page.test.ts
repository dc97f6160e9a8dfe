import { expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { blocksOf, runBlocks } from "../support/presage/run-blocks.ts";
import { usePresage } from "../support/presage/use-presage.ts";

const presage = usePresage();

test("the commands of docs/runs.md run in their order against the sandbox, and the gate falls short", async () => {
  const page = await readFile(resolve(import.meta.dir, "../../../../docs/runs.md"), "utf8");
  const folder = await mkdtemp(join(tmpdir(), "presage-runs-page-"));
  const { failure, stdout, stderr } = await runBlocks(presage, blocksOf(page), { folder });
  expect(failure).toBe("");
  expect(stdout).toContain("exit code 2\n");
  expect(stderr).toContain(
    "the pass rate 33.3 %, with 12 predictions without a verdict as not passed, is below",
  );
  expect(stderr).toContain("points lower than the reference's");
  expect(stdout).toMatch(/^exact-match +66\.7 % \(.+\) .+ 36\/36 +0\.0 %$/m);
  expect(stdout).toContain('"pass":false');
  expect(stdout).toEndWith("Deleted elsewhere.\n");
  expect(await Bun.file(join(folder, "report.html")).text()).toContain("Run model");
  await rm(folder, { recursive: true });
});
