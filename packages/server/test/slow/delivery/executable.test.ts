import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeploymentListResponse } from "@presage/contract";
import { expectEventually } from "../../support/eventually.ts";
import {
  expectEvaluationInThreads,
  expectFirstPrediction,
  expectPages,
} from "../../support/presage/expect-delivered.ts";
import { testKey } from "../../support/presage/presage.ts";
import { runInFolder } from "../../support/presage/run-in-folder.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { createPostgresDatabase } from "../../support/store/databases.ts";

const server = join(import.meta.dir, "../../..");
const root = join(server, "../..");
const target = `${process.platform}-${process.arch}`;
const isRoot = process.getuid?.() === 0;
const mayMount = isRoot && canMount();
if (process.platform === "linux" && !mayMount)
  process.stderr.write(
    isRoot
      ? "The image's file system is not entered, as nothing may be mounted here: its program runs among its files instead.\n"
      : "The test of the image's file system is skipped: it needs root.\n",
  );
let work: string;
let executable: string;
let presage: SpawnedPresage;

// The targets for which Presage is delivered.
describe.if(process.platform === "linux")("On Linux", () => {
  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), "presage-executable-"));
    executable = join(work, "presage");
    await runInFolder(root, [process.execPath, "packages/web/build.ts"]);
    const build = join(server, "build/build-release.ts");
    await runInFolder(work, [process.execPath, build, "executable", target, process.execPath, executable]);
    presage = await spawnPresage({}, [executable]);
  });
  afterAll(async () => {
    await presage?.[Symbol.asyncDispose]();
    await rm(work, { recursive: true, force: true });
  });

  test("The executable says its version and has every command", async () => {
    const { version } = await Bun.file(join(server, "package.json")).json();
    expect(await runInFolder(work, [executable, "--version"])).toBe(`${version}\n`);
    expect(await runInFolder(work, [executable, "--help"])).toContain("migrate");
  });

  test("It adds at most 27 MB to Bun's program, so that the image stays below 150 MB", async () => {
    const [whole, runtime] = await Promise.all([stat(executable), stat(process.execPath)]);
    expect(whole.size - runtime.size).toBeLessThan(27_000_000);
  });

  test("It answers the first prediction", () => expectFirstPrediction(presage));
  test("It evaluates in threads and keeps the result in SQLite", () => expectEvaluationInThreads(presage));
  test("It has the dashboard and the API's page", () => expectPages(presage));

  test("It migrates PostgreSQL, and its workers share a port", async () => {
    const databaseUrl = await createPostgresDatabase();
    const environment = { PRESAGE_DATABASE_URL: databaseUrl };
    expect(await runInFolder(work, [executable, "migrate"], environment)).toStartWith("Applied 001");
    expect(await runInFolder(work, [executable, "migrate"], environment)).toBe("The schema is up to date.\n");
    await using several = await spawnPresage({ ...environment, PRESAGE_WORKERS: "2" }, [executable]);
    await expectFirstPrediction(several);
    await expectEvaluationInThreads(several);
    await expectEventually(async () => (await answeringProcesses(several.url)).size, 2);
    several.kill("SIGTERM");
    expect(await several.exited).toBe(0);
  });

  const image = mayMount ? "The image's file system, read-only," : "The image's program";
  test.skipIf(!isRoot)(
    `${image} answers the first prediction as the image's user, and its health check`,
    async () => {
      const { enter, environment } = await layOutImage(join(work, "image"));
      await using inImage = await spawnPresage(environment, enter);
      await expectFirstPrediction(inImage);
      const { port } = new URL(inImage.url);
      await runInFolder(work, [...enter, "health"], { ...environment, PRESAGE_PORT: port });
      expect((await stat(join(work, "image/data/presage.db"))).uid).toBe(65_532);
      inImage.kill("SIGTERM");
      expect(await inImage.exited).toBe(0);
    },
  );
});

/** Whether this process may mount a file system. Root in a container may not, unless it was given the right to. */
function canMount(): boolean {
  if (Bun.which("unshare") === null) return false;
  const mounting = ["unshare", "--mount", "mount", "--bind", tmpdir(), tmpdir()];
  return Bun.spawnSync(mounting, { stdout: "ignore", stderr: "ignore" }).success;
}

/** A folder laid out as by the Dockerfile, with the command that runs a program in it. */
async function layOutImage(
  folder: string,
): Promise<{ enter: string[]; environment: Record<string, string> }> {
  await mkdir(folder);
  // The image's user has to get there.
  await chmod(work, 0o711);
  const way = mayMount ? "enter" : "enterUnmounted";
  const [script, program, place] = [join(root, "scripts/image-root.mjs"), executable, folder].map((path) =>
    JSON.stringify(path),
  );
  const source = `import { imageRoot } from ${script};
    const { ${way}: enter, environment } = imageRoot(${program}, ${place});
    console.log(JSON.stringify({ enter: enter([]), environment }));`;
  return JSON.parse(await runInFolder(root, ["node", "--input-type=module", "--eval", source]));
}

/** Each call has its own connection, which either worker may get. */
async function answeringProcesses(url: string): Promise<Set<number | undefined>> {
  const headers = { "x-api-key": testKey };
  const responses = Array.from({ length: 24 }, async () => {
    const response = await fetch(`${url}/v1/deployments`, { headers, keepalive: false });
    return DeploymentListResponse.parse(await response.json()).data[0]?.process_id;
  });
  return new Set(await Promise.all(responses));
}
