import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { killChildren } from "../packages/server/test/support/presage/child-processes.ts";
import { createDatabaseAt, startPostgres } from "../packages/server/test/support/store/postgres.ts";
import { runFuzz, writeReport } from "./run-fuzz.ts";
import { startTarget, type UpstreamKind } from "./target/target.ts";

interface FuzzArguments {
  requests: number;
  /** Send only the request with this number. */
  only: number | undefined;
  seed: number;
  concurrency: number;
  /** `sqlite`, `postgres` (the fuzzer starts its own), or the URL of a PostgreSQL on which it creates a database. */
  database: string;
  upstreams: UpstreamKind[];
}

const usage = `npm run fuzz -- [options]

  --requests N       number of requests to send (100000)
  --only N           send only the request with this number
  --seed N           repeat the requests of an earlier run (random)
  --database D       sqlite, postgres, or the URL of a PostgreSQL on which to create a database (sqlite)
  --upstream U       sandbox, faulty, or both: four fifths with the sandbox, then a fifth with an upstream that fails (both)
  --concurrency N    number of concurrent requests (16)
`;

function readArguments(argv: readonly string[]): FuzzArguments {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      requests: { type: "string", default: "100000" },
      seed: { type: "string", default: String(randomInt(2 ** 31)) },
      only: { type: "string" },
      database: { type: "string", default: "sqlite" },
      upstream: { type: "string", default: "both" },
      concurrency: { type: "string", default: "16" },
    },
  });
  return {
    requests: values.only === undefined ? wholeNumber("--requests", values.requests) : 1,
    only: values.only === undefined ? undefined : wholeNumber("--only", values.only),
    seed: wholeNumber("--seed", values.seed),
    concurrency: wholeNumber("--concurrency", values.concurrency),
    database: readDatabase(values.database),
    upstreams: readUpstreams(values.upstream),
  };
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${name}: got ${text}; expected a whole number`);
  return Number(text);
}

function readDatabase(text: string): string {
  if (text === "sqlite" || text === "postgres" || /^postgres(ql)?:\/\//.test(text)) return text;
  throw new Error(`--database: got ${text}; expected sqlite, postgres or a URL that begins with postgres://`);
}

function readUpstreams(text: string): UpstreamKind[] {
  if (text === "both") return ["sandbox", "faulty"];
  if (text === "sandbox" || text === "faulty") return [text];
  throw new Error(`--upstream: got ${text}; expected sandbox, faulty or both`);
}

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
