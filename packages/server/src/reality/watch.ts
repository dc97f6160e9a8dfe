import type { RealityState } from "@presage/contract";
import { LRUCache } from "lru-cache";
import type { EnvironmentRevision } from "../environments/environment.ts";
import type { RealityServices, WatchedRevision } from "../environments/environments.ts";
import { selectExisting } from "../environments/environments-store.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { startAlarm } from "./alarm.ts";
import {
  countEpisodes,
  type RevisionChecks,
  selectCheckedAgain,
  selectCheckIds,
  selectEpisodePage,
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
  watched: WatchedEnvironment;
  revision: number;
  episodes: number;
  atMs: number;
  usualAgeMs: number;
}

/** Follows environments with a limit of false success. `onAlarm` is told when an alarm begins. */
export function watchReality(
  { store }: { store: Store },
  onAlarm: (environment: WatchedEnvironment) => void,
): RealityWatch {
  const known = new LRUCache<string, Known>({ max: mostEnvironments, ttl: keptMs });
  /** The latest revision that was seen of each. */
  const latest = new LRUCache<string, number>({ max: mostEnvironments, ttl: keptMs });
  const looking = new Map<string, Promise<RealityState>>();

  async function look(
    requester: Requester,
    { id, name: environment, revision }: WatchedRevision,
    limit: number,
  ): Promise<RealityState> {
    const { accountId } = requester;
    const startedMs = performance.now();
    const before = known.get(keyOf({ id, revision }));
    const wanted = { accountId, environment, revision };
    const episodes = await countEpisodes(store.briefReader(requester), wanted);
    const state =
      before?.episodes === episodes
        ? before.watched.state
        : await countFromFirst(store, requester, wanted, limit);
    const atMs = performance.now();
    const ageMs = Math.max(usualAgeMs, (atMs - startedMs) / mostOfTime);
    const watched = { id, accountId, environment, state };
    known.set(keyOf({ id, revision }), { watched, revision, episodes, atMs, usualAgeMs: ageMs });
    if (state.state === "alarm" && before?.watched.state.state !== "alarm") onAlarm(watched);
    return state;
  }

  return {
    async stateOf(requester, environment, maxAgeMs) {
      const { id, revision, config } = environment;
      const limit = config.real?.false_success_limit;
      if (typeof limit === "number" || latest.has(id))
        latest.set(id, Math.max(revision, latest.get(id) ?? 0));
      if (typeof limit !== "number") return undefined;
      const key = keyOf(environment);
      const before = known.get(key);
      const isFresh =
        before !== undefined && performance.now() - before.atMs < (maxAgeMs ?? before.usualAgeMs);
      if (isFresh) return before.watched.state;
      // Callers that come at once share one look, which ends also if the first of them hangs up.
      const signal = AbortSignal.timeout(lookMs);
      const found = looking.get(key) ?? look({ ...requester, signal }, environment, limit);
      looking.set(key, found);
      return await found.finally(() => looking.delete(key));
    },
    async all() {
      const all = [...known.values()].flatMap(({ watched, revision }) =>
        latest.get(watched.id) === revision ? watched : [],
      );
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

const episodesAtOnce = 1_000;

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
    for (let after: number | undefined = 0; after !== undefined; ) {
      const rows = await selectEpisodePage(reader, id, { after, limit: episodesAtOnce });
      for (const row of rows) {
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
      after = rows.length < episodesAtOnce ? undefined : Number(rows.at(-1)?.position);
    }
  }
  return alarm.end();
}
