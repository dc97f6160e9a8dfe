import { expect, test } from "bun:test";
import { join } from "node:path";

const buildBundle = join(import.meta.dir, "../../build/build-bundle.ts");

async function bundle() {
  const child = Bun.spawn([process.execPath, buildBundle], { stdout: "pipe", stderr: "pipe" });
  const [path, messages] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, path, messages };
}

test("npm start bundles the server once, also when several start at once", async () => {
  const [first, second] = await Promise.all([bundle(), bundle()]);
  expect([first.code, second.code]).toEqual([0, 0]);
  expect(second.path).toBe(first.path);
  expect(await bundle()).toEqual({ code: 0, path: first.path, messages: "" });

  const version = Bun.spawn([process.execPath, first.path, "--version"], { stdout: "pipe" });
  expect(await new Response(version.stdout).text()).toMatch(/^\d+\.\d+\.\d+/);
});
