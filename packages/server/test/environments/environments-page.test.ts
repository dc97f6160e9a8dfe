import { expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { blocksOf, runBlocks } from "../support/presage/run-blocks.ts";
import { usePresage } from "../support/presage/use-presage.ts";

const presage = usePresage();

test("the commands of docs/environments.md run in their order against the sandbox, and both episodes succeed", async () => {
  const page = await readFile(resolve(import.meta.dir, "../../../../docs/environments.md"), "utf8");
  const folder = await mkdtemp(join(tmpdir(), "presage-environments-page-"));
  const { failure, stdout } = await runBlocks(presage, blocksOf(page), { folder });
  expect(failure).toBe("");
  expect(stdout.match(/"reward":1,"terminated":true/g)?.length).toBe(2);
  await rm(folder, { recursive: true });
});
