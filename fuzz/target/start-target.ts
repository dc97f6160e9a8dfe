import { EvaluatorFamilyListResponse, EvaluatorListResponse, WhoAmIResponse } from "@presage/contract";
import { keyOfAnotherAccount } from "../../packages/server/test/support/other-account.ts";
import { testKey } from "../../packages/server/test/support/presage.ts";
import { runPresage } from "../../packages/server/test/support/run-presage.ts";
import { sessionOf, signInLocally, type TestSession } from "../../packages/server/test/support/session.ts";
import { type SpawnedPresage, spawnPresage } from "../../packages/server/test/support/spawn-presage.ts";
import { createKnownThings, type KnownThings } from "../check/known-things.ts";
import type { Schema } from "../document/schema.ts";
import type { Served } from "../generate/vocabulary.ts";
import { startFaultyUpstream } from "./faulty-upstream.ts";

export type UpstreamKind = "sandbox" | "faulty";

/** A server to be fuzzed, and those who may call it. */
export interface Target extends AsyncDisposable {
  presage: SpawnedPresage;
  upstream: UpstreamKind;
  served: Served;
  known: KnownThings;
  /** Of the owner, whom local mode has. */
  ownerKey: string;
  /** The first one stays; the others may be ended by requests. */
  sessions: TestSession[];
  /** Of a user in another account. */
  strangerKey: string;
}

const expendableSessions = 2;

/** Starts a server in a process of its own on an empty database. */
export async function startTarget(databaseUrl: string, upstream: UpstreamKind): Promise<Target> {
  const faulty = upstream === "faulty" ? await startFaultyUpstream() : undefined;
  const environment: Record<string, string> = {
    PRESAGE_DATABASE_URL: databaseUrl,
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
  const known = createKnownThings();
  const sessions = [await signIn(presage, await presage.stderr(), databaseUrl)];
  for (let made = 0; made < expendableSessions; made += 1) {
    const { stdout, stderr } = await runPresage(["sign-in"], environment);
    sessions.push(await signIn(presage, stdout + stderr, databaseUrl));
  }
  await protectCallers(presage, sessions, known);
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

async function signIn(presage: SpawnedPresage, printed: string, databaseUrl: string): Promise<TestSession> {
  const path = /\/sign-in#\S+/.exec(printed)?.[0];
  if (path === undefined) throw new Error(`No address to sign in with was printed: ${printed}`);
  return await sessionOf(await signInLocally({ url: presage.url, signInAddress: presage.url + path }), databaseUrl);
}

/** The first session and the owner's key must outlive the requests that end sessions and revoke keys. */
async function protectCallers(presage: SpawnedPresage, sessions: TestSession[], known: KnownThings): Promise<void> {
  for (const headers of [undefined, sessions[0]?.headers]) {
    const { caller } = WhoAmIResponse.parse(
      await (await presage.call("GET", "/v1/whoami", undefined, headers)).json(),
    );
    const id = caller.api_key?.id ?? caller.session?.id;
    if (id !== undefined) known.protect(id);
  }
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
