import type { RealityState } from "@presage/contract";
import { conflict, notFound } from "../platform/errors.ts";
import { orAborted, withDeadline } from "../platform/limits/deadline.ts";
import { type Keyset, type KeysetPage, refuseLargePage } from "../platform/storage/lists.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { type EnvironmentRevision, sandboxEnvironment, sandboxName } from "./environment.ts";
import { selectEnvironment, selectEnvironmentSizes, selectEnvironments } from "./environments-store.ts";

/** The part of a revision that `realityOf` needs. */
export type WatchedRevision = Pick<EnvironmentRevision, "id" | "name" | "revision" | "config">;

/** The services that know how far an environment's successes can be trusted. */
export interface RealityServices {
  store: Store;
  /** Whether the environment's successes are false too often, at most `maxAgeMs` out of date; undefined if it has no limit. */
  realityOf(
    requester: Requester,
    environment: WatchedRevision,
    maxAgeMs?: number,
  ): Promise<RealityState | undefined>;
}

/** With very many episodes a look takes longer; a later answer has its result. */
const mostWaitMs = 500;

/** The state of an environment's reality; undefined if finding it takes too long or fails. */
export async function ifKnownSoon<State>(looking: Promise<State>): Promise<State | undefined> {
  const limits = { timeoutMs: mostWaitMs, timeoutError: () => new Error("It takes longer.") };
  return await withDeadline(limits, (signal) => orAborted(looking, signal)).catch(() => undefined);
}

/** An environment of the account or the built-in one, in its latest revision unless a number is given. */
export async function findEnvironment(
  { store }: { store: Store },
  requester: Requester,
  name: string,
  revision?: number,
): Promise<EnvironmentRevision> {
  if (name === sandboxName && (revision ?? 1) === 1) return sandboxEnvironment;
  const wanted = { name, revision };
  const found = await selectEnvironment(store.briefReader(requester), requester.accountId, wanted);
  if (found === undefined) throw notFound("environment");
  return found;
}

/** Throws if the environment is built in. */
export function refuseBuiltIn(name: string): void {
  if (name === sandboxName) throw conflict(`The environment ${name} is built in and cannot be changed.`);
}

/**
 * One page of an account's environments, newest first, the built-in one last of all. `reserve` gets the size before reading; without
 * it, pages of any size are read.
 */
export async function listEnvironments(
  { store }: { store: Store },
  requester: Requester,
  page: KeysetPage,
  reserve?: (bytes: number) => void,
): Promise<{ environments: EnvironmentRevision[]; next: Keyset | undefined }> {
  const reader = store.briefReader(requester);
  const { accountId } = requester;
  const sizes = reserve && (await selectEnvironmentSizes(reader, accountId, page));
  if (sizes) reserve(refuseLargePage(sizes, "environments"));
  const { environments, next } = await selectEnvironments(reader, accountId, page);
  if (next !== undefined) return { environments, next };
  if (environments.length < page.limit) return { environments: [...environments, sandboxEnvironment], next };
  const { id, created_at: createdAt } = environments.at(-1) ?? sandboxEnvironment;
  return { environments, next: { id, createdAt: createdAt ?? 0 } };
}
