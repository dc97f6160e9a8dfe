import type { EnvironmentConfig } from "@presage/contract";
import pMap from "p-map";
import { selectEnvironment } from "../../environments/environments-store.ts";
import type { RealityServices } from "../../environments/find-environment.ts";
import { doTogether } from "../../platform/storage/batches.ts";
import { microsPerMs, nowMicros } from "../../platform/storage/columns.ts";
import { startLooking, withLease } from "../../platform/storage/leases.ts";
import type { RealityChecksTable, RealityReplaysTable } from "../../platform/storage/schema/reality.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { insertCheck, selectCheck } from "../checks-store.ts";
import type { RealEnvironments } from "../real/real-environment.ts";
import {
  compareWith,
  describeFailure,
  type PlayServices,
  playRecording,
  type ReplayRoom,
  readPlayed,
  replayEpisode,
} from "./compare.ts";
import {
  completeDrawn,
  countFailuresInARow,
  type DrawnEnvironment,
  hasOpenEpisodes,
  insertReplays,
  type Replayed,
  selectContinuousChecks,
  selectEndedSince,
  selectReplays,
  selectRunningChecks,
  selectUncheckedEnvironments,
  selectWatchedEnvironments,
  stopCheck,
  unplayable,
  updateDrawn,
} from "./replays-store.ts";

/** Draws ended episodes for continuous checks, after creating the checks that environments want. */
async function drawEnded(
  services: RealityServices & { realEnvironments: Pick<RealEnvironments, "all"> },
  onError: (error: unknown) => void,
): Promise<void> {
  const { database } = services.store;
  if (services.realEnvironments.all().length > 0)
    for (const environment of await selectUncheckedEnvironments(database))
      await startContinuous(database, environment);
  for (const check of await selectContinuousChecks(database)) await drawFor(services, check).catch(onError);
}

async function startContinuous(database: Database, environment: DrawnEnvironment): Promise<void> {
  const { real } = JSON.parse(environment.config) as EnvironmentConfig;
  if (!real?.share) return;
  // Several processes may do this for one check at the same time.
  await insertCheck(database, {
    // One check for each revision of an environment.
    id: Bun.randomUUIDv5(`continuous/${environment.id}/${environment.revision}`, "url"),
    account_id: environment.account_id,
    source: "continuous",
    name: `${environment.name}, revision ${environment.revision}: ${Number((real.share * 100).toPrecision(12))} % of its episodes`,
    environment: environment.name,
    environment_id: environment.id,
    environment_revision: environment.revision,
    real: real.name,
    recordings: null,
    status: "running",
    drawn_until: 0,
    episodes: 0,
    false_success_limit: real.false_success_limit ?? null,
    created_by: environment.created_by,
  });
}

/** Commits and clocks of different processes are never further apart. */
const overlapMicros = 60_000 * microsPerMs;
/** The most ended episodes that are looked at, and possibly stored, at a time. */
const endedAtOnce = 5_000;

async function drawFor(services: RealityServices, check: RealityChecksTable): Promise<void> {
  const { database } = services.store;
  const { id, account_id: accountId, environment, environment_revision } = check;
  const name = environment ?? "";
  const [found, latest] = await Promise.all([
    selectEnvironment(database, accountId, { name, revision: Number(environment_revision) }),
    selectEnvironment(database, accountId, { name }),
  ]);
  // A later environment of the same name is a different one.
  if (found?.id !== check.environment_id) return await completeDrawn(database, id);
  // This is read before the last ended episodes, so that none is missed.
  const isOver = found.revision !== latest?.revision && !(await hasOpenEpisodes(database, check));
  const now = nowMicros();
  const before = Number(check.drawn_until);
  const ended = await selectEndedSince(database, check, before - overlapMicros, endedAtOnce);
  const last = ended[endedAtOnce - 1];
  // So that the next look begins with the last of these.
  const until = last === undefined ? now : Math.min(now, last.last_active_at + overlapMicros);
  const share = found.config.real?.share ?? 0;
  // An episode is drawn by its id alone, never by how it ended, so every process decides alike.
  const drawn = ended.filter((episode) => Number(Bun.hash.wyhash(episode.id)) / 2 ** 64 < share);
  if (drawn.length === 0 && last === undefined) {
    if (isOver) return await completeDrawn(database, id);
    if (now - before < overlapMicros) return;
  }
  await database.transaction().execute(async (transaction) => {
    // Another process may have drawn them meanwhile.
    if (!(await updateDrawn(transaction, check, until))) return;
    const replays = drawn.map((episode) => ({ episode_id: episode.id, trajectory_id: null }));
    await insertReplays(transaction, id, replays);
  });
}

/** Checks every environment that has a limit, so that alarms are raised even if nobody asks. */
async function watchAlarms(
  { store, realityOf }: RealityServices,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  for (const { account_id: accountId, config, ...one } of await selectWatchedEnvironments(store.database)) {
    if (signal.aborted) return;
    const revision = { ...one, config: JSON.parse(config) as EnvironmentConfig };
    await realityOf({ accountId, signal }, revision).catch(onError);
  }
}

export interface ReplayServices extends PlayServices, ReplayRoom {
  store: Store;
  realEnvironments: Pick<RealEnvironments, "find" | "all">;
  /** Multiplies the pauses between two looks. */
  patience: number;
  storeReplayed(requester: Requester, checkId: string, replayed: readonly Replayed[]): Promise<void>;
  /** Called when a check is paused: it raises no alarm until someone resumes it. */
  onPaused(check: RealityChecksTable, reason: string): void;
}

export interface ReplayRunner {
  /** Looks for work immediately, because a check was created or resumed. */
  wake(): void;
  /** Stops, and leaves this process's checks to other processes. */
  stop(): Promise<void>;
}

const lookEveryMs = 2_000;
const watchEveryMs = 10_000;
/** The most checks that this process works on at the same time. */
const maxChecks = 8;
/** The most recordings that a world plays at the same time. */
const recordingsAtOnce = 4;
const replaysRead = 100;
/** The failures in a row after which a check is paused. */
const mostFailures = 20;

/** Replays the waiting episodes of checks that no other process works on. */
export function startReplays(services: ReplayServices, onError: (error: unknown) => void): ReplayRunner {
  const { database } = services.store;
  const holder = Bun.randomUUIDv7();
  const held = new Map<string, Promise<void>>();

  function hold(check: RealityChecksTable, stopping: AbortSignal): void {
    const over = new AbortController();
    const real = findReal(services, check);
    /** Stops if the check was cancelled or deleted, or if the operator's file changed its real environment. */
    async function stopIfOver(): Promise<void> {
      const now = await selectCheck(database, check.account_id, check.id);
      if (findReal(services, check) !== real || now?.status !== "running") over.abort();
    }
    const working = withLease(
      database,
      { name: `reality/${check.id}`, holder },
      AbortSignal.any([stopping, over.signal]),
      async ({ renew, signal }) => {
        const keep = () => void renew().then(stopIfOver).catch(onError);
        const timer = setInterval(keep, renewEveryMs * services.patience);
        await workOnCheck(services, check, signal).finally(() => clearInterval(timer));
      },
    );
    const ended = working.then(
      () => {},
      (error: unknown) => {
        if (!stopping.aborted && !over.signal.aborted) onError(error);
      },
    );
    held.set(check.id, ended);
    void ended.then(() => held.delete(check.id));
  }

  async function look(signal: AbortSignal): Promise<void> {
    // If drawing fails, for one check or for all, replays still go on.
    await drawEnded(services, onError).catch(onError);
    for (const check of await selectRunningChecks(database, maxChecks)) {
      if (held.size >= maxChecks || signal.aborted) return;
      if (!held.has(check.id)) hold(check, signal);
    }
  }

  const intervalMs = lookEveryMs * services.patience;
  const looker = startLooking({ look, intervalMs, onFailure: onError });
  const watcher = startLooking({
    look: (signal) => watchAlarms(services, signal, onError),
    intervalMs: watchEveryMs * services.patience,
    onFailure: onError,
  });
  return {
    wake: looker.schedule,
    async stop() {
      await Promise.all([looker.stop(), watcher.stop()]);
      await Promise.all(held.values());
    },
  };
}

const renewEveryMs = 1_000;

/** Replays waiting episodes. A check without more to do is completed, unless further episodes are drawn for it. */
async function workOnCheck(services: ReplayServices, check: RealityChecksTable, signal: AbortSignal) {
  const { database } = services.store;
  const requester = { accountId: check.account_id, signal };
  const real = findReal(services, check);
  async function pause(reason: string): Promise<void> {
    if (await stopCheck(database, check.id, { status: "paused", reason })) services.onPaused(check, reason);
  }
  if (check.real !== null && real === undefined)
    return await pause(`The operator declares no real environment named ${JSON.stringify(check.real)} now.`);
  const store = doTogether(async (replayed: readonly Replayed[]) => {
    await services.storeReplayed(requester, check.id, replayed);
    return replayed;
  });
  let failuresInARow = await countFailuresInARow(database, check.id);
  let reason: string | undefined;

  async function replay(waiting: RealityReplaysTable): Promise<void> {
    if (reason !== undefined) return;
    const whenStored: (() => void)[] = [];
    try {
      const replayed = await replayOne(services, requester, { check, waiting, real, whenStored });
      // A replay that a stop cut off keeps waiting.
      signal.throwIfAborted();
      await store(replayed);
      count(replayed);
    } finally {
      for (const release of whenStored) release();
    }
  }

  function count(replayed: Replayed): void {
    if (!("error" in replayed)) failuresInARow = 0;
    else if (!replayed.error.startsWith(unplayable)) failuresInARow += 1;
    if ("error" in replayed && failuresInARow >= mostFailures)
      reason = `${mostFailures} episodes in a row could not be replayed. The last one: ${replayed.error}`;
  }

  const concurrency = real?.maxInFlight ?? recordingsAtOnce;
  await pMap(
    allWaiting(services.store, check.id, () => reason === undefined),
    replay,
    { concurrency, signal },
  );
  if (reason !== undefined) await pause(reason);
  else if (check.source !== "continuous")
    await stopCheck(database, check.id, { status: "completed", reason: null });
}

function findReal({ realEnvironments }: ReplayServices, { real }: RealityChecksTable) {
  return real === null ? undefined : realEnvironments.find(real);
}

async function* allWaiting(
  { database }: Store,
  checkId: string,
  mayGoOn: () => boolean,
): AsyncGenerator<RealityReplaysTable, void> {
  let after = 0;
  while (mayGoOn()) {
    const waiting = await selectReplays(database, checkId, "waiting", { after, limit: replaysRead });
    yield* waiting;
    const last = waiting.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}

interface Wanted {
  check: RealityChecksTable;
  waiting: RealityReplaysTable;
  /** Undefined if the recording itself is the reality. */
  real: ReturnType<RealEnvironments["find"]>;
  whenStored: (() => void)[];
}

/** Stores a failure of the episode, the world or the real environment as its error; throws anything else. */
async function replayOne(
  services: ReplayServices,
  requester: Requester,
  { check, waiting, real, whenStored }: Wanted,
): Promise<Replayed> {
  const at = { check_id: check.id, position: waiting.position };
  try {
    if (real === undefined) {
      const { played, reality } = await playRecording(services, requester, { check, waiting }, whenStored);
      return { ...at, ...compareWith(at, played, reality) };
    }
    const played = await readPlayed(services, requester, waiting.episode_id ?? "");
    const reality = await replayEpisode(services, requester, real, played, whenStored);
    return { ...at, ...compareWith(at, played, reality) };
  } catch (error) {
    const reason = describeFailure(error);
    if (reason === undefined) throw error;
    return { ...at, error: reason };
  }
}
