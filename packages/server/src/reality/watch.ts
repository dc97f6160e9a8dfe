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
const mostEnvironments = 1_000;

interface Known extends WatchedEnvironment {
  revision: number;
  episodes: number;
  atMs: number;
}

/** Follows environments with a limit of false success. `onAlarm` is told when an alarm begins. */
export function watchReality(
  { store }: { store: Store },
  onAlarm: (environment: WatchedEnvironment) => void,
): RealityWatch {
  const known = new LRUCache<string, Known>({ max: mostEnvironments });
  const looking = new Map<string, Promise<RealityState>>();

  async function look(
    requester: Requester,
    { id, name: environment, revision }: EnvironmentRevision,
    limit: number,
  ): Promise<RealityState> {
    const { accountId } = requester;
    const before = known.get(id);
    const wanted = { environment, revision };
    const episodes = await countEpisodes(store.briefReader(requester), accountId, wanted);
    const isSame = before?.revision === revision && before.episodes === episodes;
    const state = isSame
      ? before.state
      : toState(
          await selectEpisodesOfEnvironment(store.reader(requester), accountId, wanted, mostEpisodes),
          limit,
        );
    const found = { accountId, environment, revision, state, episodes, atMs: performance.now() };
    known.set(id, found);
    if (state.state === "alarm" && before?.state.state !== "alarm") onAlarm(found);
    return state;
  }

  return {
    async stateOf(requester, environment, maxAgeMs = usualAgeMs) {
      const limit = environment.config.real?.false_success_limit;
      if (typeof limit !== "number") return undefined;
      const before = known.get(environment.id);
      const isFresh = before?.revision === environment.revision && performance.now() - before.atMs < maxAgeMs;
      if (isFresh) return before.state;
      const key = `${environment.id}@${environment.revision}`;
      // Callers that come at once share one look, which ends also if the first of them hangs up.
      const signal = AbortSignal.timeout(lookMs);
      const found = looking.get(key) ?? look({ ...requester, signal }, environment, limit);
      looking.set(key, found);
      return await found.finally(() => looking.delete(key));
    },
    all: () => [...known.values()],
  };
}

const lookMs = 30_000;

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
