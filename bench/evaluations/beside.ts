import { readFileSync } from "node:fs";
import { join } from "node:path";
import { addApiKey } from "../../packages/server/src/accounts/api-keys.ts";
import { insertUserWithAccount } from "../../packages/server/src/accounts/users-store.ts";
import { composeStore } from "../../packages/server/src/app/compose-command-line.ts";
import { readConfig } from "../../packages/server/src/config/config.ts";
import { createLog } from "../../packages/server/src/platform/observability/logger.ts";
import { nowMicros } from "../../packages/server/src/platform/storage/columns.ts";
import { runWrk } from "../lib/load.ts";
import { type ProcessGroup, programFile, workDirectory } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import {
  type EvaluationsPlan,
  evaluateBodies,
  heavyBodies,
  heavyRegexProfile,
  longBodies,
} from "./workload.ts";

interface Latencies {
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

export interface BesideSample {
  readonly round: number;
  readonly idle: Latencies;
  readonly busy: Latencies;
  /** Expensive evaluations finished meanwhile. */
  readonly evaluated: number;
  readonly problem: string | undefined;
}

/** Time for the threads to start and all evaluations to be in flight. */
const headStartMs = 1500;
const clientScript = programFile("heavy-client.mjs");

const createHeavyProfile = async ({ origin, headers }: RunningPresage): Promise<void> => {
  const body = JSON.stringify(heavyRegexProfile);
  const response = await fetch(`${origin}/v1/evaluator-profiles`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`the profile was refused: ${await response.text()}`);
};

/** Measures while a client keeps as many of the evaluations in flight. */
const loadWhile = async <Value>(
  group: ProcessGroup,
  { origin, headers }: Pick<RunningPresage, "origin" | "headers">,
  { bodies, inFlight }: { readonly bodies: readonly string[]; readonly inFlight: number },
  logFile: string,
  measure: () => Promise<Value>,
): Promise<{ measured: Value; outcomes: Readonly<Record<string, number>> }> => {
  const job = { url: `${origin}/v1/evaluate`, headers, bodies, inFlight };
  const jobFile = `${logFile}.job.json`;
  await Bun.write(jobFile, JSON.stringify(job));
  const client = group.startServer({ argv: ["node", clientScript, jobFile], logFile });
  await Bun.sleep(headStartMs);
  const measured = await measure();
  await group.stop(client);
  return { measured, outcomes: JSON.parse(readFileSync(logFile, "utf8")) };
};

export const measureBeside = async (
  group: ProcessGroup,
  upstream: Upstream,
  { rounds, connections, delayMs, durationS, heavyInFlight }: EvaluationsPlan["beside"],
): Promise<BesideSample[]> => {
  const directory = join(workDirectory, "beside");
  const presage = await startPresage(
    group,
    upstream.origin,
    directory,
    `sqlite:${join(directory, "presage.db")}`,
  );
  await createHeavyProfile(presage);
  await upstream.set(delayMs);
  const predict = () => runWrk(group, presage.predict, connections, durationS);
  await predict();

  const samples: BesideSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const idle = await predict();
    const logFile = join(directory, `heavy-${round}.log`);
    const { measured: busy, outcomes } = await loadWhile(
      group,
      presage,
      { bodies: heavyBodies, inFlight: heavyInFlight },
      logFile,
      predict,
    );
    const { success: evaluated = 0, ...failures } = outcomes;
    const problems = [
      ...Object.entries(failures).map(([why, times]) => `${times} x ${why}`),
      ...[idle, busy].flatMap(({ errors }) =>
        Object.entries(errors).flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind} errors`] : [])),
      ),
      ...(evaluated === 0 ? ["no evaluation finished"] : []),
    ];
    samples.push({
      round,
      idle,
      busy,
      evaluated,
      problem: problems.length === 0 ? undefined : problems.join(", "),
    });
    const figures = `p99 ${idle.p99Us} us idle, ${busy.p99Us} us beside ${heavyInFlight} expensive evaluations`;
    const problem = problems.length === 0 ? "" : `  FAILED: ${problems.join(", ")}`;
    process.stdout.write(`beside  round ${round + 1}: ${figures}, ${evaluated} evaluated${problem}\n`);
  }
  await group.stop(presage.process);
  return samples;
};

/** Adds an account with one user to the database of a running server, and returns a key of that user. */
const addAccount = async (databaseUrl: string): Promise<string> => {
  const { database, keyDigest } = await composeStore(
    readConfig({ PRESAGE_DATABASE_URL: databaseUrl }),
    createLog("silent"),
  );
  const user = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: "https://issuer.example",
    oidc_subject: "another",
    email: null,
    name: "Another",
    created_at: nowMicros(),
    role: "owner" as const,
  };
  await insertUserWithAccount(database, user, "another account");
  const { key } = await addApiKey(database, keyDigest, { userId: user.id, name: "bench", expiresAt: null });
  await database.destroy();
  return key;
};

/** What the other account has under way meanwhile. */
export const crowds = ["nothing", "expensive rules", "bodies of a megabyte"] as const;
export type Crowd = (typeof crowds)[number];

const bodiesOf: Readonly<Record<Exclude<Crowd, "nothing">, readonly string[]>> = {
  "expensive rules": heavyBodies,
  "bodies of a megabyte": longBodies,
};

export interface AccountsSample {
  readonly round: number;
  readonly crowd: Crowd;
  readonly requests: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** Evaluations of the crowd that ended meanwhile. */
  readonly ended: number;
  readonly problem: string | undefined;
}

/** Small evaluations of one account, alone and beside heavy ones of another. */
export const measureAccounts = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { rounds, connections, durationS, heavyInFlight }: EvaluationsPlan["accounts"],
): Promise<AccountsSample[]> => {
  const directory = join(workDirectory, "accounts");
  const databaseUrl = `sqlite:${join(directory, "presage.db")}`;
  const presage = await startPresage(group, upstreamOrigin, directory, databaseUrl);
  await createHeavyProfile(presage);
  const headers = { ...presage.headers, "x-api-key": await addAccount(databaseUrl) };
  const request = { url: `${presage.origin}/v1/evaluate`, headers, body: evaluateBodies };
  const evaluate = () => runWrk(group, request, connections, durationS, "evaluate.lua");
  await evaluate();

  const samples: AccountsSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const crowd of round % 2 === 0 ? crowds : crowds.toReversed()) {
      const { measured, outcomes } =
        crowd === "nothing"
          ? { measured: await evaluate(), outcomes: {} }
          : await loadWhile(
              group,
              presage,
              { bodies: bodiesOf[crowd], inFlight: heavyInFlight },
              join(directory, `crowd-${round}-${crowds.indexOf(crowd)}.log`),
              evaluate,
            );
      const { success: ended = 0, ...failures }: Readonly<Record<string, number>> = outcomes;
      const problems = [
        ...Object.entries(failures).map(([why, times]) => `${times} x ${why}`),
        ...Object.entries(measured.errors).flatMap(([kind, count]) =>
          count > 0 ? [`${count} ${kind} errors`] : [],
        ),
        ...(crowd !== "nothing" && ended === 0 ? ["no evaluation of the crowd ended"] : []),
      ];
      const problem = problems.length === 0 ? undefined : problems.join(", ");
      const { requests, p50Us, p99Us, maxUs } = measured;
      samples.push({ round, crowd, requests, p50Us, p99Us, maxUs, ended, problem });
      process.stdout.write(
        `accounts  round ${round + 1}, beside ${crowd}: p99 ${p99Us} us, ${requests} small and ${ended} heavy ended${problem === undefined ? "" : `  FAILED: ${problem}`}\n`,
      );
    }
  }
  await group.stop(presage.process);
  return samples;
};
