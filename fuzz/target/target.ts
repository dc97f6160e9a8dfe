import { EvaluatorFamilyListResponse, EvaluatorListResponse, WhoAmIResponse } from "@presage/contract";
import { createSignInPath } from "../../packages/server/src/app/compose-accounts.ts";
import { testKey } from "../../packages/server/test/support/presage/presage.ts";
import {
  type SpawnedPresage,
  spawnPresage,
} from "../../packages/server/test/support/presage/spawn-presage.ts";
import { keyOfAnotherAccount } from "../../packages/server/test/support/resources/other-account.ts";
import {
  sessionOf,
  signInLocally,
  type TestSession,
} from "../../packages/server/test/support/sign-in/session.ts";
import { openStore } from "../../packages/server/test/support/store/open-store.ts";
import { readEvents } from "../check/check-response.ts";
import { createKnownObjects, type KnownObjects } from "../check/known-objects.ts";
import type { Schema } from "../document.ts";
import type { Served } from "../generate/vocabulary.ts";
import { startFaultyUpstream } from "./faulty-upstream.ts";

export type UpstreamKind = "sandbox" | "faulty";

/** A server to fuzz, and the callers known to it. */
export interface Target extends AsyncDisposable {
  presage: SpawnedPresage;
  upstream: UpstreamKind;
  served: Served;
  known: KnownObjects;
  /** The owner's key in local mode. */
  ownerKey: string;
  /** The first one is kept; requests may end the others. */
  sessions: TestSession[];
  /** The key of a user in another account. */
  strangerKey: string;
}

const sessionCount = 3;
/** Random requests would hardly ever create, start and use one in this order. */
const orsSessionCount = 10;

/** Starts a server as a separate process with an empty database. */
export async function startTarget(databaseUrl: string, upstream: UpstreamKind): Promise<Target> {
  const faulty = upstream === "faulty" ? await startFaultyUpstream() : undefined;
  const environment: Record<string, string> = {
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_CAPTURE: "all",
    ...(faulty === undefined
      ? {}
      : {
          PRESAGE_UPSTREAM_URL: faulty.url,
          PRESAGE_UPSTREAM_MODEL: "faulty",
          PRESAGE_UPSTREAM_TIMEOUT_MS: "1000",
          PRESAGE_UPSTREAM_RETRIES: "1",
        }),
  };
  const presage = await spawnPresage(environment);
  const known = createKnownObjects();
  const sessions: TestSession[] = [];
  for (let made = 0; made < sessionCount; made += 1) sessions.push(await signIn(presage, databaseUrl));
  await protectCallers(presage, sessions, known);
  for (let index = 0; index < orsSessionCount; index += 1)
    known.learn({ id: "makeOrsSession" }, { task_id: await startOrsSession(presage, index) }, "owner");
  return {
    presage,
    upstream,
    served: await readServed(presage),
    known,
    ownerKey: testKey,
    sessions,
    strangerKey: await keyOfAnotherAccount(databaseUrl),
    async [Symbol.asyncDispose]() {
      await presage[Symbol.asyncDispose]();
      faulty?.stop();
    },
  };
}

async function signIn({ url }: SpawnedPresage, databaseUrl: string): Promise<TestSession> {
  await using store = await openStore(databaseUrl);
  const signInAddress = url + (await createSignInPath(store));
  return await sessionOf(await signInLocally({ url, signInAddress }), databaseUrl);
}

/** The first session and the owner's key must outlive the requests that end sessions and revoke keys. */
async function protectCallers(
  presage: SpawnedPresage,
  sessions: TestSession[],
  known: KnownObjects,
): Promise<void> {
  for (const headers of [undefined, sessions[0]?.headers]) {
    const { caller } = WhoAmIResponse.parse(
      await (await presage.call("GET", "/v1/whoami", undefined, headers)).json(),
    );
    const id = caller.api_key?.id ?? caller.session?.id;
    if (id !== undefined) known.protect(id);
  }
}

/** A session of the Open Reward Standard that has begun. */
async function startOrsSession(presage: SpawnedPresage, index: number): Promise<string> {
  const made = await presage.call("POST", "/create_session");
  const [event] = readEvents(await made.text()) ?? [];
  const id = event?.data ?? "";
  const wanted = { env_name: "sandbox", split: "train", index };
  const { status } = await presage.call("POST", "/create", wanted, {
    "x-api-key": testKey,
    "x-session-id": id,
  });
  if (status !== 200) throw new Error(`No session could be started: ${status}.`);
  return id;
}

async function readServed(presage: SpawnedPresage): Promise<Served> {
  const read = async (path: string) => await (await presage.call("GET", path)).json();
  const { evaluators } = EvaluatorListResponse.parse(await read("/v1/evaluators"));
  const { evaluator_families } = EvaluatorFamilyListResponse.parse(await read("/v1/evaluator-families"));
  const { evaluator_profiles } = (await read("/v1/evaluator-profiles?is_managed=true&limit=100")) as {
    evaluator_profiles: { name: string }[];
  };
  return {
    evaluators: evaluators.flatMap(({ id, aliases }) => [id, ...aliases]),
    families: evaluator_families.map(({ family_name, profile_config_schema }) => ({
      name: family_name,
      configSchema: profile_config_schema as Schema,
    })),
    profileNames: evaluator_profiles.map(({ name }) => name),
  };
}

/** One measured request to `/health`. */
export interface HealthSample {
  /** Milliseconds since 1970. */
  startedAt: number;
  tookMs: number;
  /** Delay caused by the machine: how late the requesting thread's timers were, or how long the server waited for a processor, whichever is longer. */
  machineMs: number;
  /** 0 if there was no response. */
  status: number;
}

export interface HealthTarget {
  url: string;
  /** The server's process id. */
  pid: number;
}

export interface HealthWatch {
  /** Without delays caused by the machine. */
  slowestMs(): number;
  requests(): number;
  stop(): void;
}

/** Requests `/health` continuously, over its own connection, and reports each response. */
export function watchHealth(url: string, pid: number, onSample: (sample: HealthSample) => void): HealthWatch {
  const worker = new Worker(new URL("./health-worker.ts", import.meta.url));
  let slowestMs = 0;
  let requests = 0;
  worker.onmessage = ({ data }: MessageEvent<HealthSample>) => {
    requests += 1;
    slowestMs = Math.max(slowestMs, data.tookMs - data.machineMs);
    onSample(data);
  };
  worker.postMessage({ url, pid } satisfies HealthTarget);
  return { slowestMs: () => slowestMs, requests: () => requests, stop: () => worker.terminate() };
}
