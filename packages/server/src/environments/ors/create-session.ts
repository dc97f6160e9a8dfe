import { ServiceError } from "../../platform/errors.ts";
import { refuseClosedAccounts } from "../../platform/storage/closed-accounts-store.ts";
import { microsPerMs, nowMicros } from "../../platform/storage/micros.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { OrsSessionsTable } from "../../platform/storage/schema/environments.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import type { Episode } from "../episodes/episode.ts";
import { composeEpisode } from "../episodes/start-episode.ts";
import { findEnvironment } from "../find-environment.ts";
import { storedIdOf } from "./find-session.ts";
import { listAllEnvironments } from "./list-all-environments.ts";
import { selectSession } from "./ors-sessions-store.ts";
import { readTaskIndex } from "./splits.ts";

/** A client whose connection was cut repeats the request, not sooner and not later than this. */
const repeatFromMs = 500;
const repeatToMs = 60_000;

export interface WantedSession {
  sessionId: string;
  /** Undefined: the first call that names one decides. */
  environment: string | undefined;
  split: string;
  index: number;
  apiKeyId: string | undefined;
}

type Services = Pick<EnvironmentServices, "store" | "ors">;

/** Stores a session with its task. Its episode starts at once, or when the environment is known. */
export async function createSession(
  services: Services,
  requester: Requester,
  wanted: WantedSession,
): Promise<void> {
  const { ors } = services;
  const id = storedIdOf(services, requester, wanted.sessionId);
  const { environment, split, index } = wanted;
  const episode =
    environment === undefined
      ? await refuseUnknownTask(services, requester, wanted)
      : await composeSessionEpisode(services, requester, { ...wanted, id, environment });
  const now = nowMicros();
  const row: OrsSessionsTable = {
    id,
    account_id: requester.accountId,
    wanted: JSON.stringify({ environment, split, index }),
    environment: environment ?? null,
    delivered_steps: 0,
    created_at: now,
    last_used_at: now,
  };
  if (!(await ors.storeSession({ row, episode: episode?.row }))) {
    if (environment !== undefined) await findEnvironment(services, requester, environment);
    await refuseUnlessRepeated(services, row);
  }
  // A client that is gone repeats the request.
  if (!requester.signal.aborted) ors.known.noteCreated(id);
}

/** An episode with the id of its session, not stored. */
export async function composeSessionEpisode(
  services: Services,
  requester: Requester,
  wanted: { id: string; environment: string; split: string; index: number; apiKeyId: string | undefined },
): Promise<Episode> {
  const environment = await findEnvironment(services, requester, wanted.environment);
  const task = readTaskIndex(environment, wanted);
  return await composeEpisode(services, requester, { ...wanted, ...task, seed: undefined });
}

async function refuseUnknownTask(
  services: Services,
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
 * A session is made once. But a client that lost the response repeats the request, perhaps to another process: that succeeds as long
 * as no step was taken. At once, where this process has answered the first request, it is no repetition.
 */
async function refuseUnlessRepeated({ store, ors }: Services, row: OrsSessionsTable): Promise<void> {
  const made = await selectSession(store.database, row.account_id, row.id);
  if (made === undefined) await refuseClosedAccounts(store.database, [row.account_id]);
  const isSame = made?.wanted === row.wanted && Number(made.delivered_steps) === 0;
  const ageMs = (row.created_at - Number(made?.created_at ?? 0)) / microsPerMs;
  const isTimely = ageMs < repeatToMs && (ageMs >= repeatFromMs || !ors.known.has(row.id));
  if (!isSame || !isTimely) throw new ServiceError("bad_request", "Session already exists.");
}
