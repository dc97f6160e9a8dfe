import pMap from "p-map";
import { doTogether } from "../../platform/storage/batches.ts";
import { withLease } from "../../platform/storage/leases.ts";
import type { RealityChecksTable, RealityReplaysTable } from "../../platform/storage/schema/reality.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { selectCheck } from "../checks-store.ts";
import type { RealEnvironments } from "../real/real-environment.ts";
import { compareWith, describeFailure, type ReplayRoom, readPlayed, replayEpisode } from "./compare.ts";
import { drawEnded } from "./draw.ts";
import { type PlayServices, playRecording } from "./recordings.ts";
import {
  countFailuresInARow,
  type Replayed,
  selectReplays,
  selectRunningChecks,
  stopCheck,
} from "./replays-store.ts";

export interface ReplayServices extends PlayServices, ReplayRoom {
  store: Store;
  realEnvironments: Pick<RealEnvironments, "find" | "all">;
  storeReplayed(requester: Requester, checkId: string, replayed: readonly Replayed[]): Promise<void>;
  /** Until someone resumes a check, no alarm is to be expected of it. */
  onPaused(check: RealityChecksTable, reason: string): void;
}

export interface ReplayRunner {
  /** Looks for work at once: a check was made or resumed. */
  wake(): void;
  /** Lets other processes have this one's checks. */
  stop(): Promise<void>;
}

const lookEveryMs = 2_000;
/** Checks that this process works on at once. */
const maxChecks = 8;
/** Recordings that a world plays at once. */
const recordingsAtOnce = 4;
const replaysRead = 100;
/** In a row, before a check is paused. */
const mostFailures = 20;

/** Replays what is still to be replayed, of checks that no other process works on. */
export function startReplays(services: ReplayServices, onError: (error: unknown) => void): ReplayRunner {
  const { database } = services.store;
  const stopping = new AbortController();
  const holder = Bun.randomUUIDv7();
  const held = new Map<string, Promise<void>>();
  let looking: Promise<void> = Promise.resolve();
  let isLooking = false;

  function hold(check: RealityChecksTable): void {
    const over = new AbortController();
    const real = findReal(services, check);
    /** It was cancelled or deleted, or the operator's file says something else of its real environment. */
    async function stopIfOver(): Promise<void> {
      const now = await selectCheck(database, check.account_id, check.id);
      if (findReal(services, check) !== real || now?.status !== "running") over.abort();
    }
    const working = withLease(
      database,
      { name: `reality/${check.id}`, holder },
      AbortSignal.any([stopping.signal, over.signal]),
      async ({ renew, signal }) => {
        const keep = () => void renew().then(stopIfOver).catch(onError);
        const timer = setInterval(keep, renewEveryMs);
        await workOnCheck(services, check, signal).finally(() => clearInterval(timer));
      },
    );
    const ended = working.then(
      () => {},
      (error: unknown) => {
        if (!stopping.signal.aborted && !over.signal.aborted) onError(error);
      },
    );
    held.set(check.id, ended);
    void ended.then(() => held.delete(check.id));
  }

  async function lookForWork(): Promise<void> {
    // What hinders one check, or all drawing, is no reason not to replay.
    await drawEnded(services, onError).catch(onError);
    for (const check of await selectRunningChecks(database, maxChecks)) {
      if (held.size >= maxChecks || stopping.signal.aborted) return;
      if (!held.has(check.id)) hold(check);
    }
  }

  function look(): void {
    if (isLooking || stopping.signal.aborted) return;
    isLooking = true;
    looking = lookForWork()
      .catch(onError)
      .finally(() => {
        isLooking = false;
      });
  }

  const timer = setInterval(look, lookEveryMs);
  look();
  return {
    wake: look,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await looking;
      await Promise.all(held.values());
    },
  };
}

const renewEveryMs = 1_000;

/** Replays what waits. A check without more to do is completed, unless further episodes are drawn for it. */
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
      // What a stop cut off is still to be replayed.
      signal.throwIfAborted();
      await store(replayed);
      count(replayed);
    } finally {
      for (const release of whenStored) release();
    }
  }

  function count(replayed: Replayed): void {
    failuresInARow = "error" in replayed ? failuresInARow + 1 : 0;
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
  /** Undefined: the recording that it is made of is the reality. */
  real: ReturnType<RealEnvironments["find"]>;
  whenStored: (() => void)[];
}

/** Only what lies in the episode or the real environment is its failure; anything else is thrown. */
async function replayOne(
  services: ReplayServices,
  requester: Requester,
  { check, waiting, real, whenStored }: Wanted,
): Promise<Replayed> {
  const at = { check_id: check.id, position: waiting.position };
  try {
    if (real === undefined) {
      const { played, reality } = await playRecording(services, requester, { check, waiting });
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
