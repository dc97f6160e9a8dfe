import type { RealityState } from "@presage/contract";
import { LRUCache } from "lru-cache";
import type { EnvironmentRevision } from "../environments/environment.ts";
import type { RealityServices } from "../environments/environments.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { RealityEpisodesTable } from "../platform/storage/schema/reality.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { alarmOf } from "./alarm.ts";
import { countEpisodes, selectEpisodesOfEnvironment } from "./checks-store.ts";
import { mostEpisodes, toChecked } from "./show-check.ts";

/** An environment's state, as this process saw it last. */
export interface WatchedEnvironment {
  accountId: string;
  environment: string;
  state: RealityState;
}

export interface RealityWatch {
  stateOf: RealityServices["realityOf"];
  /** What this process knows, of latest revisions. */
  all(): WatchedEnvironment[];
}

/** A process that starts thousands of episodes asks the database once in this time. */
const usualAgeMs = 2_000;
/** A look at very many episodes takes this share of a process's time at most. */
const mostOfTime = 0.05;
const mostEnvironments = 1_000;
/** One that nobody asks for as long may be gone. */
const keptMs = 3_600_000;

/** What is known of a revision. */
interface Known {
  state: RealityState;
  episodes: number;
  atMs: number;
  usualAgeMs: number;
}

/** The latest revision that was seen. */
interface Latest {
  revision: number;
  /** Undefined: it has no limit. */
  watched: WatchedEnvironment | undefined;
}

/** Follows environments with a limit of false success. `onAlarm` is told when an alarm begins. */
export function watchReality(
  { store }: { store: Store },
  onAlarm: (environment: WatchedEnvironment) => void,
): RealityWatch {
  const known = new LRUCache<string, Known>({ max: mostEnvironments, ttl: keptMs });
  const latest = new LRUCache<string, Latest>({ max: mostEnvironments, ttl: keptMs });
  const looking = new Map<string, Promise<RealityState>>();

  async function look(
    requester: Requester,
    { id, name: environment, revision }: EnvironmentRevision,
    limit: number,
  ): Promise<RealityState> {
    const { accountId } = requester;
    const startedMs = performance.now();
    const before = known.get(keyOf({ id, revision }));
    const wanted = { environment, revision };
    const episodes = await countEpisodes(store.briefReader(requester), accountId, wanted);
    const state =
      before?.episodes === episodes
        ? before.state
        : toState(
            await selectEpisodesOfEnvironment(store.reader(requester), accountId, wanted, mostEpisodes),
            limit,
          );
    const atMs = performance.now();
    const ageMs = Math.max(usualAgeMs, (atMs - startedMs) / mostOfTime);
    const watched = { accountId, environment, state };
    known.set(keyOf({ id, revision }), { state, episodes, atMs, usualAgeMs: ageMs });
    if (revision >= (latest.get(id)?.revision ?? 0)) latest.set(id, { revision, watched });
    if (state.state === "alarm" && before?.state.state !== "alarm") onAlarm(watched);
    return state;
  }

  return {
    async stateOf(requester, environment, maxAgeMs) {
      const { id, revision, config } = environment;
      const limit = config.real?.false_success_limit;
      if (typeof limit !== "number") {
        if (revision > (latest.get(id)?.revision ?? revision))
          latest.set(id, { revision, watched: undefined });
        return undefined;
      }
      const key = keyOf(environment);
      const before = known.get(key);
      const isFresh =
        before !== undefined && performance.now() - before.atMs < (maxAgeMs ?? before.usualAgeMs);
      if (isFresh) return before.state;
      // Callers that come at once share one look, which ends also if the first of them hangs up.
      const signal = AbortSignal.timeout(lookMs);
      const found = looking.get(key) ?? look({ ...requester, signal }, environment, limit);
      looking.set(key, found);
      return await found.finally(() => looking.delete(key));
    },
    all: () => [...latest.values()].flatMap(({ watched }) => watched ?? []),
  };
}

const lookMs = 30_000;

function keyOf({ id, revision }: Pick<EnvironmentRevision, "id" | "revision">): string {
  return `${id}@${revision}`;
}

/** Counted from the first check of the revision. */
function toState(rows: readonly RealityEpisodesTable[], limit: number): RealityState {
  const { policies, ...overall } = alarmOf(rows.map(toChecked), limit);
  const withTime = <State extends { since: number | null }>(state: State) => ({
    ...state,
    since: instantOf(state.since === null ? undefined : rows[state.since]),
  });
  return { ...withTime(overall), policies: policies.map(withTime) };
}

function instantOf(row: RealityEpisodesTable | undefined): string | null {
  return row?.checked_at ? toIsoInstant(Number(row.checked_at)) : null;
}
