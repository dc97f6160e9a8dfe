import { LRUCache } from "lru-cache";
import { isSameSecret } from "../../http/authenticate.ts";
import { ServiceError } from "../../platform/errors.ts";
import { type Batching, writeInBatches } from "../../platform/storage/batches.ts";
import { refuseClosedAccounts } from "../../platform/storage/closed-accounts-store.ts";
import { type Micros, microsPerMs, nowMicros } from "../../platform/storage/columns.ts";
import type { Keyset } from "../../platform/storage/lists.ts";
import type { OrsSessionsTable } from "../../platform/storage/schema/runs.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { lruLimit } from "../../platform/words.ts";
import { type EnvironmentRevision, sandboxEnvironment, sandboxName } from "../environment.ts";
import { type Episode, findEpisode, idleMs } from "../episodes/episode.ts";
import { composeEpisode, type StartServices } from "../episodes/start-episode.ts";
import { findEnvironment, listEnvironments } from "../find-environment.ts";
import { readTaskIndex } from "../tasks.ts";
import {
  deleteOldSessions,
  deleteSessionRow,
  type NewSession,
  type SessionStart,
  selectSession,
  type Uses,
} from "./ors-sessions-store.ts";

export interface SessionServices extends Pick<StartServices, "store" | "realityOf" | "startTurns"> {
  ors: {
    ids: ReturnType<typeof createSessionIds>;
    known: ReturnType<typeof createKnownSessions>;
    /** Stores a session, unless it exists. Returns whether it was stored. */
    storeSession(session: NewSession): Promise<boolean>;
    /** Starts the episode of a session, unless it has one. Returns whether it was started. */
    startSession(start: SessionStart): Promise<boolean>;
  };
}

function hasEnded({ last_used_at }: Pick<OrsSessionsTable, "last_used_at">): boolean {
  return last_used_at < nowMicros() - idleMs * microsPerMs;
}

/** A live session of the account. Finding it counts as a use. */
async function findSession(services: SessionServices, requester: Requester, sessionId: string) {
  const { store, ors } = services;
  const id = storedIdOf(services, requester, sessionId);
  const row = await selectSession(store.database, requester.accountId, id);
  if (row === undefined || hasEnded(row)) {
    ors.known.forget(id);
    throw noSuchSession();
  }
  ors.known.note(id);
  return row;
}

/** Keeps a session alive, mostly without a read or a write. */
export async function pingSession(services: SessionServices, requester: Requester, sessionId: string) {
  if (services.ors.known.has(storedIdOf(services, requester, sessionId))) return;
  await findSession(services, requester, sessionId);
}

/** Ends a session, if it was used. Its episode stays. */
export async function deleteSession(services: SessionServices, requester: Requester, sessionId: string) {
  const id = storedIdOf(services, requester, sessionId);
  services.ors.known.forget(id);
  await deleteSessionRow(services.store.database, requester.accountId, id);
}

/** The id under which a session is stored once it is used. Throws if the session is not the account's. */
export function storedIdOf({ ors }: SessionServices, { accountId }: Requester, sessionId: string): string {
  const id = ors.ids.storedIdOf(accountId, sessionId);
  if (id === undefined) throw noSuchSession();
  return id;
}

function noSuchSession(): ServiceError {
  return new ServiceError("not_found", "There is no such session, or it has ended.");
}

/** Few, because each may have a megabyte. */
const environmentsAtOnce = 50;

/** All environments of an account: the built-in one, then its own, newest first. */
export async function* listAllEnvironments(
  services: { store: Store },
  requester: Requester,
): AsyncGenerator<EnvironmentRevision, void> {
  yield sandboxEnvironment;
  let after: Keyset | undefined;
  do {
    const page = { limit: environmentsAtOnce, after };
    const { environments, next } = await listEnvironments(services, requester, page);
    yield* environments.filter(({ name }) => name !== sandboxName);
    after = next;
  } while (after !== undefined);
}

/** A client whose connection was cut repeats the request within this range of time. */
const repeatFromMs = 500;
const repeatToMs = 60_000;

export interface WantedSession {
  sessionId: string;
  /** If undefined, the first call that names an environment decides. */
  environment: string | undefined;
  split: string;
  index: number;
  /** A label of the agent. */
  policy: string | undefined;
  apiKeyId: string | undefined;
}

/** Stores a session with its task. Its episode starts immediately, or once the environment is known. */
export async function createSession(services: SessionServices, requester: Requester, wanted: WantedSession) {
  const { ors } = services;
  const id = storedIdOf(services, requester, wanted.sessionId);
  const { environment, split, index, policy } = wanted;
  const episode =
    environment === undefined
      ? await refuseUnknownTask(services, requester, wanted)
      : await composeSessionEpisode(services, requester, { ...wanted, id, environment });
  const now = nowMicros();
  const row: OrsSessionsTable = {
    id,
    account_id: requester.accountId,
    wanted: JSON.stringify({ environment, split, index, policy }),
    environment: environment ?? null,
    delivered_steps: 0,
    created_at: now,
    last_used_at: now,
  };
  if (!(await ors.storeSession({ row, episode: episode?.row }))) {
    if (environment !== undefined) await findEnvironment(services, requester, environment);
    await refuseUnlessRepeated(services, row);
  }
  // A client that has disconnected repeats the request.
  if (!requester.signal.aborted) ors.known.noteCreated(id);
}

/** A new episode with the id of its session, not stored yet. */
async function composeSessionEpisode(
  services: SessionServices,
  requester: Requester,
  wanted: Omit<WantedSession, "sessionId"> & { id: string; environment: string },
): Promise<Episode> {
  const release = await services.startTurns.take(requester.accountId, requester.signal);
  try {
    const environment = await findEnvironment(services, requester, wanted.environment);
    const task = readTaskIndex(environment, wanted);
    return await composeEpisode(services, requester, { ...wanted, ...task, seed: undefined });
  } finally {
    release();
  }
}

async function refuseUnknownTask(
  services: SessionServices,
  requester: Requester,
  { split, index }: { split: string; index: number },
): Promise<undefined> {
  for await (const { tasks } of listAllEnvironments(services, requester)) {
    const count = new Map<string, number>(Object.entries(tasks)).get(split) ?? 0;
    if (index >= 0 && index < count) return;
  }
  throw new ServiceError(
    "bad_request",
    `Invalid split or index: no environment has a task ${index} in a split ${split.slice(0, 100)}.`,
  );
}

/**
 * A session is created once. But a client that lost the response repeats the request, perhaps to another process; that succeeds as
 * long as no step was taken. An immediate repeat to a process that answered the first request is refused.
 */
async function refuseUnlessRepeated({ store, ors }: SessionServices, row: OrsSessionsTable): Promise<void> {
  const made = await selectSession(store.database, row.account_id, row.id);
  if (made === undefined) await refuseClosedAccounts(store.database, [row.account_id]);
  const isSame = made?.wanted === row.wanted && made.delivered_steps === 0;
  const ageMs = (row.created_at - (made?.created_at ?? 0)) / microsPerMs;
  const isTimely = ageMs < repeatToMs && (ageMs >= repeatFromMs || !ors.known.has(row.id));
  if (!isSame || !isTimely) throw new ServiceError("bad_request", "Session already exists.");
}

/** How long a process trusts that no other process has ended a session. */
const trustForMs = 60_000;
/** Uses are written at most this often, far more often than sessions expire. */
const writeEveryMs = 60_000;
const maxSessions = 50_000;

interface Known {
  seenAtMs: number;
  writtenAtMs: number;
}

/** The sessions in use that a process knows, so that not every ping reads or writes the database. */
export function createKnownSessions({
  write,
  ...batching
}: Pick<Batching<Micros>, "intervalMs" | "onFailure"> & {
  write(uses: Uses): Promise<void>;
}) {
  const sessions = new LRUCache<string, Known>(lruLimit(maxSessions));
  const { pending, stop } = writeInBatches<Micros>({
    write: (batch) => write({ ids: [...batch.keys()].sort(), at: Math.max(...batch.values()) }),
    ...batching,
  });

  return {
    /** Whether the session existed a short time ago. */
    has(id: string): boolean {
      const known = sessions.get(id);
      if (known === undefined || performance.now() - known.seenAtMs > trustForMs) return false;
      use(id, known);
      return true;
    },
    /** Notes that the session exists and is in use. */
    note(id: string): void {
      const known = sessions.get(id) ?? { seenAtMs: 0, writtenAtMs: Number.NEGATIVE_INFINITY };
      known.seenAtMs = performance.now();
      sessions.set(id, known);
      use(id, known);
    },
    /** Notes that the session was stored just now. */
    noteCreated(id: string): void {
      const nowMs = performance.now();
      sessions.set(id, { seenAtMs: nowMs, writtenAtMs: nowMs });
    },
    forget(id: string): void {
      sessions.delete(id);
      pending().delete(id);
    },
    /** Writes pending uses and stops. */
    stop,
  };

  function use(id: string, known: Known): void {
    const nowMs = performance.now();
    if (nowMs - known.writtenAtMs < writeEveryMs) return;
    known.writtenAtMs = nowMs;
    pending().set(id, nowMicros());
  }
}

export interface OpenSession {
  session: OrsSessionsTable;
  episode: Episode;
}

/** A session that is used in an environment, with its episode, which starts now if the session had no environment yet. */
export async function openSession(
  services: SessionServices,
  requester: Requester,
  wanted: { sessionId: string; environment: string; apiKeyId: string | undefined },
): Promise<OpenSession> {
  const session = await findSession(services, requester, wanted.sessionId);
  const { environment, apiKeyId } = wanted;
  if (session.environment === null) {
    const place = JSON.parse(session.wanted) as Pick<WantedSession, "split" | "index" | "policy">;
    const episode = await composeSessionEpisode(services, requester, {
      ...place,
      id: session.id,
      environment,
      apiKeyId,
    });
    if (await services.ors.startSession({ environment, episode: episode.row }))
      return { session: { ...session, environment }, episode };
    return await openSession(services, requester, wanted);
  }
  if (session.environment !== environment)
    throw new ServiceError("bad_request", `The session belongs to the environment ${session.environment}.`);
  return { session, episode: await findEpisode(services, requester, session.id) };
}

const idPattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{22})$/;
const taskPattern = /^(\d{1,9})-([0-9a-f-]{36})\.([\w-]{22})$/;

/**
 * Creates and checks the ids of sessions and of their calls, so that neither is stored before it is used. Ids are random, with a MAC
 * made with a secret that all processes on the database share.
 */
export function createSessionIds(secret: string) {
  /** 128 bits of the MAC. */
  function macOf(...parts: readonly string[]): string {
    const hasher = new Bun.CryptoHasher("sha256", secret).update(JSON.stringify(parts));
    return hasher.digest("base64url").slice(0, 22);
  }

  return {
    newSession(accountId: string): string {
      const id = Bun.randomUUIDv7();
      return `${id}.${macOf("session", accountId, id)}`;
    },
    /** The id under which a session is stored; undefined if the session is not this account's. */
    storedIdOf(accountId: string, sessionId: string): string | undefined {
      const [, id, mac] = idPattern.exec(sessionId) ?? [];
      if (id === undefined || mac === undefined) return undefined;
      return isSameSecret(mac, macOf("session", accountId, id)) ? id : undefined;
    },
    newTask(storedId: string, step: number): string {
      const name = crypto.randomUUID();
      return `${step}-${name}.${macOf("task", storedId, String(step), name)}`;
    },
    /** The step that a call takes; undefined if the task is not this session's. */
    stepOf(storedId: string, taskId: string): number | undefined {
      const [, step, name, mac] = taskPattern.exec(taskId) ?? [];
      if (step === undefined || name === undefined || mac === undefined) return undefined;
      return isSameSecret(mac, macOf("task", storedId, step, name)) ? Number(step) : undefined;
    },
  };
}

/** Long after a session has ended. */
const keptMs = 24 * 3_600_000;
/** Sessions deleted in one statement: few, because others write meanwhile. */
const sessionsAtOnce = 1_000;

/** Deletes sessions that ended long ago. Their episodes stay. */
export async function sweepSessions(database: Database, signal: AbortSignal): Promise<void> {
  const before = nowMicros() - keptMs * microsPerMs;
  while (!signal.aborted && (await deleteOldSessions(database, before, sessionsAtOnce)));
}
