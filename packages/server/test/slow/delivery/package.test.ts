import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectEventually } from "../../support/eventually.ts";
import {
  expectEvaluationInThreads,
  expectFirstPrediction,
  expectPages,
} from "../../support/presage/expect-delivered.ts";
import { runInFolder } from "../../support/presage/run-in-folder.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";

const server = join(import.meta.dir, "../../..");
const root = join(server, "../..");
/** npm has fetched Bun for this clone. */
const fromCache = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
let work: string;
let folder: string;
let presage: SpawnedPresage;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "presage-package-"));
  const built = join(work, "built");
  const consumer = join(work, "consumer");
  await mkdir(consumer);
  await runInFolder(root, [process.execPath, "packages/web/build.ts"]);
  await runInFolder(root, [process.execPath, join(server, "build/build-release.ts"), "package", built]);
  await runInFolder(work, ["npm", "pack", built, "--loglevel=error"]);
  await runInFolder(consumer, ["npm", "install", "--prefix", ".", ...fromCache, await packed()]);
  folder = join(consumer, "node_modules");
  presage = await spawnPresage({}, [join(folder, ".bin/presage")]);
});
afterAll(async () => {
  await presage?.[Symbol.asyncDispose]();
  await rm(work, { recursive: true, force: true });
});

function filesIn(path: string): string[] {
  return [...new Bun.Glob("**/*").scanSync(path)];
}

async function packed(): Promise<string> {
  const archive = (await readdir(work)).find((name) => name.endsWith(".tgz"));
  return join(work, archive ?? "");
}

test("The package installs nothing but Bun, and names what publishing needs", async () => {
  const installed = await readdir(folder);
  expect(installed.filter((name) => !name.startsWith(".")).sort()).toEqual(["@oven", "@presage", "bun"]);
  const manifest = await Bun.file(join(folder, "@presage/server/package.json")).json();
  expect(manifest).toMatchObject({
    name: "@presage/server",
    license: "Apache-2.0",
    bin: { presage: "bin/presage.mjs" },
    publishConfig: { access: "public", provenance: true },
  });
  expect(Object.keys(manifest)).not.toContain("private");
  expect(Object.keys(manifest.dependencies)).toEqual(["bun"]);
});

test("Its files have no path of the machine that built them, and the licences of what is in them", async () => {
  const own = join(folder, "@presage/server");
  for (const name of filesIn(join(own, "server"))) {
    expect([name, (await Bun.file(join(own, "server", name)).text()).includes(root)]).toEqual([name, false]);
  }
  const licences = await Bun.file(join(own, "THIRD-PARTY-LICENCES.txt")).text();
  for (const name of ["react ", "pg ", "zod ", "@fontsource-variable/inter "])
    expect(licences).toContain(`\n${name}`);
  expect(licences).not.toContain("\nplaywright-core ");
});

test("Every thread that it starts and every library that it loads later is there", async () => {
  const own = join(folder, "@presage/server/server");
  const named = new Set<string>();
  for (const name of filesIn(own).filter((each) => !each.startsWith("libraries/"))) {
    const text = await Bun.file(join(own, name)).text();
    for (const [, path = ""] of text.matchAll(/new URL\("([^"]+)", import\.meta\.url\)/g)) named.add(path);
    for (const [, path = ""] of text.matchAll(/require\("(\.\/libraries\/[^"]+)"\)/g)) named.add(path);
  }
  expect([...named].some((path) => path.startsWith("./libraries/ioredis/"))).toBe(true);
  expect(named.size).toBeGreaterThan(5);
  expect([...named].filter((path) => !existsSync(join(own, path)))).toEqual([]);
});

test("Its command says its version, and names itself in what it prints", async () => {
  const { version } = await Bun.file(join(server, "package.json")).json();
  expect(await runInFolder(work, [join(folder, ".bin/presage"), "--version"])).toBe(`${version}\n`);
  expect(await presage.stderr()).toContain(" presage sign-in prints another.");
  expect(await presage.stderr()).not.toContain("npx");
});

test("Its server answers the first prediction", () => expectFirstPrediction(presage));
test("Its server evaluates in threads and keeps the result", () => expectEvaluationInThreads(presage));
test("Its server has the dashboard and the API's page", () => expectPages(presage));

test("A signal to the command stops the server", async () => {
  presage.kill("SIGTERM");
  expect(await presage.exited).toBe(0);
});

test("npx runs the archive from nothing, and the server ends with it", async () => {
  // With the packages that npm has fetched, but none that npx has unpacked.
  const cache = join(work, "npm-cache");
  await mkdir(cache);
  const fetched = (await runInFolder(work, ["npm", "config", "get", "cache"])).trim();
  await symlink(join(fetched, "_cacache"), join(cache, "_cacache"));
  const ofNpm = Object.entries(process.env).filter(
    ([name]) => /^(npm_config_|https?_proxy$|HOME$)/i.test(name) && name !== "npm_config_cache",
  );
  const npx = ["npx", "--yes", ...fromCache, `--cache=${cache}`, `file:${await packed()}`];
  const environment = Object.fromEntries(ofNpm.map(([name, value = ""]) => [name, value]));
  await using started = await spawnPresage(environment, npx);
  await expectFirstPrediction(started);
  started.kill("SIGTERM");
  await started.exited;
  const isThere = () =>
    fetch(`${started.url}/ready`).then(
      () => true,
      () => false,
    );
  await expectEventually(isThere, false);
});
