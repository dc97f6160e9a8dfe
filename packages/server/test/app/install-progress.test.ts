import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";

const scripts = join(import.meta.dir, "../../../../scripts");
const fetched = (url: string) => `npm http fetch GET 200 https://registry.example/${url} 12ms (cache miss)`;
const ofAnotherSystem = process.platform === "win32" ? "linux" : "win32";
const lockFile = {
  packages: {
    "": {},
    "node_modules/@tanstack/react-query": {},
    "node_modules/bun": {},
    "node_modules/@oven/bun-elsewhere": { os: [ofAnotherSystem] },
    "node_modules/typescript": { dev: true },
    "node_modules/@presage/server": { link: true },
    "packages/server": {},
  },
};

/** A checkout without packages, whose npm is a script. */
let checkout: string;
beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), "presage-checkout-"));
  await mkdir(join(checkout, "scripts"));
  await copyFile(join(scripts, "ensure-installed.mjs"), join(checkout, "scripts/ensure-installed.mjs"));
  await Bun.write(join(checkout, "package-lock.json"), JSON.stringify(lockFile));
});
afterAll(() => rm(checkout, { recursive: true }));

/** Installs in a terminal with an npm that prints this, and returns what the terminal shows. */
async function install(output: string[], code = 0): Promise<{ lines: string[]; code: number }> {
  const npm = join(checkout, "bin/npm");
  await Bun.write(npm, `#!/bin/sh\ncat >&2 <<'END'\n${output.join("\n")}\nEND\nexit ${code}\n`);
  await chmod(npm, 0o755);
  const program =
    'import("./scripts/ensure-installed.mjs").then((script) => script.ensureInstalled({ forDevelopment: false }))';
  const chunks: Uint8Array[] = [];
  const child = Bun.spawn([Bun.which("node") ?? "node", "-e", program], {
    cwd: checkout,
    env: { PATH: [dirname(npm), process.env.PATH].join(delimiter) },
    terminal: { cols: 80, rows: 24, data: (_, chunk) => chunks.push(chunk) },
  });
  const exitCode = await child.exited;
  const shown = stripVTControlCharacters(Buffer.concat(chunks).toString());
  return { code: exitCode, lines: shown.split(/[\r\n]+/).filter((line) => line !== "") };
}

test("the first start shows how many packages it installs, and which one npm has just fetched", async () => {
  const { code, lines } = await install([
    fetched("bun/-/bun-1.4.5.tgz"),
    "npm warn deprecated something@1.0.0",
    fetched("@tanstack/react-query/-/react-query-5.0.0.tgz"),
  ]);
  expect(code).toBe(0);
  expect(lines).toEqual([
    "Installing 2 packages into node_modules …",
    "  1 of 2  bun",
    "npm warn deprecated something@1.0.0",
    "  2 of 2  @tanstack/react-query",
    expect.stringMatching(/^Installed the packages in \d+ s\.$/),
  ]);
});

test("if npm fails, its errors are shown and the start ends with exit code 1", async () => {
  const { code, lines } = await install(["npm error code ENOTFOUND"], 7);
  expect(code).toBe(1);
  expect(lines.slice(-2)).toEqual(["npm error code ENOTFOUND", "npm install failed; see above."]);
});
