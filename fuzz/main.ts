import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killChildren } from "../packages/server/test/support/presage/child-processes.ts";
import { createDatabaseAt, startPostgres } from "../packages/server/test/support/store/postgres.ts";
import { type FuzzArguments, readArguments, usage } from "./arguments.ts";
import { writeReport } from "./report/write-report.ts";
import { runFuzz } from "./run-fuzz.ts";
import { startTarget } from "./target/start-target.ts";

/** Limits of a full run on an otherwise idle machine. */
const maxHealthMs = 300;
const maxMemoryBytes = 1_500e6;
/** The faulty upstream's share of the requests, with both upstreams. */
const shareOfFaulty = 0.2;

async function fuzz({
  requests,
  only,
  seed,
  concurrency,
  database,
  upstreams,
}: FuzzArguments): Promise<boolean> {
  process.stdout.write(`Seed ${seed}\n`);
  await using disposables = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "presage-fuzz-"));
  disposables.defer(() => rm(directory, { recursive: true, force: true }));
  const postgres = database === "postgres" ? await startPostgres() : undefined;
  if (postgres !== undefined) disposables.defer(() => postgres.remove());

  let isClean = true;
  for (const upstream of upstreams) {
    const share = upstreams.length === 1 ? 1 : upstream === "faulty" ? shareOfFaulty : 1 - shareOfFaulty;
    const databaseUrl =
      database === "sqlite"
        ? `sqlite:${join(directory, `${upstream}.db`)}`
        : await createDatabaseAt(postgres?.url ?? database);
    await using target = await startTarget(databaseUrl, upstream);
    const report = await runFuzz(target, {
      seed,
      firstIndex: only ?? 0,
      requests: only === undefined ? Math.round(requests * share) : 1,
      concurrency,
      maxHealthMs,
      maxMemoryBytes,
      onProgress: showProgress,
    });
    process.stdout.write(`\n${writeReport(report, seed)}`);
    isClean &&= report.findings.length === 0;
  }
  return isClean;
}

function showProgress(done: number): void {
  if (done % 1_000 === 0) process.stderr.write(`\r${done}`);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    killChildren();
    process.exit(130);
  });
}

try {
  process.exitCode = (await fuzz(readArguments(process.argv.slice(2)))) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exitCode = 1;
}
