import type { RealityState } from "@presage/contract";
import { LRUCache } from "lru-cache";
import type { EnvironmentRevision } from "../environments/environment.ts";
import type { RealityServices } from "../environments/environments.ts";
import { selectExisting } from "../environments/environments-store.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { type Alarm, startAlarm } from "./alarm.ts";
import {
  countEpisodes,
  type RevisionChecks,
  selectCheckedAgain,
  selectCheckIds,
  selectOutcomes,
  toEpisodeKey,
} from "./checks-store.ts";

/** An environment's state, as this process saw it last. */
export interface WatchedEnvironment {
  id: string;
  accountId: string;
  environment: string;
  state: RealityState;
}

export interface RealityWatch {
  stateOf: RealityServices["realityOf"];
  /** What this process knows, of the latest revisions of environments that there are. */
  all(): Promise<WatchedEnvironment[]>;
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
    const wanted = { accountId, environment, revision };
    const episodes = await countEpisodes(store.briefReader(requester), wanted);
    const state =
      before?.episodes === episodes ? before.state : await countFromFirst(store, requester, wanted, limit);
    const atMs = performance.now();
    const ageMs = Math.max(usualAgeMs, (atMs - startedMs) / mostOfTime);
    const watched = { id, accountId, environment, state };
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
    async all() {
      const all = [...latest.values()].flatMap(({ watched }) => watched ?? []);
      const ids = all.map(({ id }) => id);
      // Without the database, the metrics say what they can.
      const existing = await selectExisting(store.database, ids).catch(() => new Set(ids));
      return all.filter(({ id }) => existing.has(id));
    },
  };
}

const lookMs = 300_000;

function keyOf({ id, revision }: Pick<EnvironmentRevision, "id" | "revision">): string {
  return `${id}@${revision}`;
}

/** Counted from the first check of the revision: a window that slides would lose the guarantee. */
async function countFromFirst(
  store: Store,
  requester: Requester,
  wanted: RevisionChecks,
  limit: number,
): Promise<RealityState> {
  const reader = store.reader(requester);
  const alarm = startAlarm(limit);
  const ids = await selectCheckIds(reader, wanted);
  const again = ids.length < 2 ? new Map<string, number>() : await selectCheckedAgain(reader, wanted);
  for (const id of ids) {
    for (let after = 0; after !== -1; ) {
      const page = await selectOutcomes(reader, id, after);
      for (const row of page.rows) {
        const { task_id: task, policy, simulated, real, checked_at } = row;
        // The last one counts.
        const times = again.get(toEpisodeKey(row)) ?? 1;
        if (times > 1) again.set(toEpisodeKey(row), times - 1);
        else
          alarm.add(
            { task, policy, simulated: Number(simulated) === 1, real: Number(real) === 1 },
            checked_at,
          );
      }
      after = page.next;
    }
  }
  const { policies, ...overall } = alarm.end();
  return { ...withTime(overall), policies: policies.map(withTime) };
}

function withTime<State extends Pick<Alarm, "since">>(
  state: State,
): Omit<State, "since"> & { since: string | null } {
  return { ...state, since: state.since === null ? null : toIsoInstant(Number(state.since)) };
}
