import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const buildBundle = join(import.meta.dir, "../../../build/build-bundle.ts");
const day = 24 * 3600;

async function bundle(folder: string) {
  const child = Bun.spawn([process.execPath, buildBundle, folder], { stdout: "pipe", stderr: "pipe" });
  const [path, messages] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, path, messages };
}

test("npm start bundles the server once, also when several start at once, and only bundles of long ago are removed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "presage-bundles-"));
  for (const [name, days] of Object.entries({ old: 91, "in-use": 89 })) {
    await Bun.write(join(folder, name, "main.js"), "");
    await utimes(join(folder, name), Date.now() / 1000, Date.now() / 1000 - days * day);
  }
  const [first, second] = await Promise.all([bundle(folder), bundle(folder)]);
  expect([first.code, second.code]).toEqual([0, 0]);
  expect(second.path).toBe(first.path);
  expect(await bundle(folder)).toEqual({ code: 0, path: first.path, messages: "" });
  expect(await readdir(folder)).toHaveLength(2);
  expect(await readdir(folder)).toContain("in-use");

  const version = Bun.spawn([process.execPath, first.path, "--version"], { stdout: "pipe" });
  expect(await new Response(version.stdout).text()).toMatch(/^\d+\.\d+\.\d+/);
  await rm(folder, { recursive: true });
});
