import { expect, test } from "bun:test";
import { resolve } from "node:path";

const root = resolve(import.meta.dir, "../../../..");

test("npm run release refuses what is not ready before it builds anything, and says what to do about each", async () => {
  // No file has this version.
  const child = Bun.spawn(["node", "scripts/release.mjs", "99.0.0"], {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect([await child.exited, stdout]).toEqual([1, ""]);
  const problems = stderr.trim().split("\n");
  expect(problems).toContain("package.json: it is not of version 99.0.0. Run npm run set-version -- 99.0.0.");
  expect(problems.some((line) => line.startsWith("CHANGELOG.md: there is no section [99.0.0]. Give"))).toBe(
    true,
  );
  for (const problem of problems) expect(problem).toMatch(/\. (Set|Run|Give|Commit|Choose) /);
});
