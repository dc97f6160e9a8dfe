import { readFileSync } from "node:fs";
import { join } from "node:path";
import { addApiKey } from "../../packages/server/src/accounts/api-keys.ts";
import { insertUserWithAccount } from "../../packages/server/src/accounts/users-store.ts";
import { composeStore } from "../../packages/server/src/app/storage.ts";
import { readConfig } from "../../packages/server/src/config/config.ts";
import { createLog } from "../../packages/server/src/platform/observability/logger.ts";
import { nowMicros } from "../../packages/server/src/platform/storage/columns.ts";
import { post } from "../lib/api.ts";
import { showProblem } from "../lib/figures.ts";
import { errorsOf, joinProblems, runWrk, type WrkResult } from "../lib/load.ts";
import { type ProcessGroup, programFile } from "../lib/processes.ts";
import { type RunningPresage, sqliteFile, startPresage } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import {
  type EvaluationsPlan,
  evaluateRequest,
  heavyBodies,
  heavyRegexProfile,
  longBodies,
} from "./workload.ts";

export interface BesideSample {
  readonly round: number;
  readonly idle: WrkResult;
  readonly busy: WrkResult;
  /** Expensive evaluations finished meanwhile. */
  readonly evaluated: number;
  readonly problem: string | undefined;
}

/** Predictions, alone and alongside expensive evaluations. */
export const measureBeside = async (
  group: ProcessGroup,
  upstream: Upstream,
  { rounds, connections, delayMs, durationS, heavyInFlight }: EvaluationsPlan["beside"],
): Promise<BesideSample[]> => {
  const presage = await startWithHeavyProfile(group, upstream.origin, "beside");
  await upstream.set(delayMs);
  const predict = () => runWrk(group, presage.predict, connections, durationS);
  await predict();

  const crowd = { bodies: heavyBodies, inFlight: heavyInFlight };
  const samples: BesideSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const idle = await predict();
    const {
      wrk: busy,
      ended,
      failures,
    } = await loadWhile(group, presage, crowd, `heavy-${round}.log`, predict);
    const nothing = ended === 0 ? ["no evaluation finished"] : [];
    const problem = joinProblems([...failures, ...errorsOf(idle, busy), ...nothing]);
    samples.push({ round, idle, busy, evaluated: ended, problem });
    const figures = `p99 ${idle.p99Us} us idle, ${busy.p99Us} us beside ${heavyInFlight} expensive evaluations`;
    process.stdout.write(
      `beside  round ${round + 1}: ${figures}, ${ended} evaluated${showProblem(problem)}\n`,
    );
  }
  await group.stop(presage.process);
  return samples;
};

/** The other account's evaluations in progress meanwhile. */
export const crowds = ["nothing", "expensive rules", "bodies of a megabyte"] as const;
export type Crowd = (typeof crowds)[number];

const bodiesOf: Readonly<Record<Exclude<Crowd, "nothing">, readonly string[]>> = {
  "expensive rules": heavyBodies,
  "bodies of a megabyte": longBodies,
};

export interface AccountsSample extends Pick<WrkResult, "p50Us" | "p99Us" | "maxUs"> {
  readonly round: number;
  readonly crowd: Crowd;
  /** Evaluations of the crowd that ended meanwhile. */
  readonly ended: number;
  readonly problem: string | undefined;
}

/** Small evaluations of one account, alone and alongside heavy ones of another. */
export const measureAccounts = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { rounds, connections, durationS, heavyInFlight }: EvaluationsPlan["accounts"],
): Promise<AccountsSample[]> => {
  const presage = await startWithHeavyProfile(group, upstreamOrigin, "accounts");
  const key = await addAccount(`sqlite:${sqliteFile(presage.directory)}`);
  const headers = { ...presage.headers, "x-api-key": key };
  const request = evaluateRequest({ ...presage, headers });
  const evaluate = () => runWrk(group, request, connections, durationS, "evaluate.lua");
  await evaluate();

  const samples: AccountsSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const crowd of round % 2 === 0 ? crowds : crowds.toReversed()) {
      const besideCrowd = (name: Exclude<Crowd, "nothing">) => {
        const load = { bodies: bodiesOf[name], inFlight: heavyInFlight };
        return loadWhile(group, presage, load, `crowd-${round}-${crowds.indexOf(name)}.log`, evaluate);
      };
      const { wrk, ended, failures } =
        crowd === "nothing" ? { wrk: await evaluate(), ended: 0, failures: [] } : await besideCrowd(crowd);
      const nothing = crowd !== "nothing" && ended === 0 ? ["no evaluation of the crowd ended"] : [];
      const problem = joinProblems([...failures, ...errorsOf(wrk), ...nothing]);
      const { requests, p50Us, p99Us, maxUs } = wrk;
      samples.push({ round, crowd, p50Us, p99Us, maxUs, ended, problem });
      process.stdout.write(
        `accounts  round ${round + 1}, beside ${crowd}: p99 ${p99Us} us, ${requests} small and ${ended} heavy ended${showProblem(problem)}\n`,
      );
    }
  }
  await group.stop(presage.process);
  return samples;
};

const startWithHeavyProfile = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  name: string,
): Promise<RunningPresage> => {
  const presage = await startPresage(group, upstreamOrigin, name);
  await post(presage, "/v1/evaluator-profiles", heavyRegexProfile);
  return presage;
};

/** Time for the threads to start and all evaluations to be in flight. */
const headStartMs = 1500;

interface BesideLoad {
  readonly wrk: WrkResult;
  /** Evaluations that ended with success. */
  readonly ended: number;
  readonly failures: readonly string[];
}

/** Measures while a client keeps this many of the evaluations in flight. */
const loadWhile = async (
  group: ProcessGroup,
  { origin, headers, directory }: RunningPresage,
  crowd: { readonly bodies: readonly string[]; readonly inFlight: number },
  logName: string,
  measure: () => Promise<WrkResult>,
): Promise<BesideLoad> => {
  const logFile = join(directory, logName);
  const jobFile = `${logFile}.job.json`;
  await Bun.write(jobFile, JSON.stringify({ url: `${origin}/v1/evaluate`, headers, ...crowd }));
  const client = group.startServer({ argv: ["node", programFile("heavy-client.mjs"), jobFile], logFile });
  await Bun.sleep(headStartMs);
  const wrk = await measure();
  await group.stop(client);
  const outcomes: Readonly<Record<string, number>> = JSON.parse(readFileSync(logFile, "utf8"));
  const { success: ended = 0, ...others } = outcomes;
  return { wrk, ended, failures: Object.entries(others).map(([why, times]) => `${times} x ${why}`) };
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
