import { setTimeout as sleep } from "node:timers/promises";
import type { RealityState } from "@presage/contract";
import { LRUCache } from "lru-cache";
import type { EnvironmentRevision } from "../environments/environment.ts";
import { selectLatest } from "../environments/environments-store.ts";
import type { RealityServices, WatchedRevision } from "../environments/find-environment.ts";
import { anytimeRate } from "../platform/statistics/anytime.ts";
import { addCluster, type ClusterSum, noMoments } from "../platform/statistics/intervals.ts";
import type { OutcomePair } from "../platform/statistics/outcome-pairs.ts";
import { isoInstantOrNull, type Micros } from "../platform/storage/columns.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import {
  type CheckedPlace,
  countEpisodes,
  type RevisionChecks,
  selectCheckedAgain,
  selectInOrder,
  toEpisodeKey,
} from "./checks-store.ts";
import { describeFalseSuccess } from "./figures.ts";

/** An environment's state as this process last saw it. */
export interface WatchedEnvironment {
  id: string;
  accountId: string;
  environment: string;
  state: RealityState;
}

export interface RealityWatch {
  stateOf: RealityServices["realityOf"];
  /** The states that this process knows of the latest revisions of existing environments. */
  all(): Promise<WatchedEnvironment[]>;
}

/** A process that starts thousands of episodes queries the database once in this time. */
const usualAgeMs = 2_000;
/** Until a look ends, starting episodes may use a state this much older. */
const staleMs = 60_000;
/** The largest share of a process's time that looks at very many episodes may take. */
const mostOfTime = 0.05;
const mostEnvironments = 1_000;
/** States that nobody asks for in this time are dropped: the environment may have been deleted. */
const keptMs = 3_600_000;

/** The state of a revision, and how fresh it is. */
interface Known {
  watched: WatchedEnvironment;
  revision: number;
  /** Identifies the state of its checks, and changes with them. */
  seen: string;
  atMs: number;
  usualAgeMs: number;
}

/** A policy's own state, or that of all episodes. */
type StateOfSome = RealityState | RealityState["policies"][number];

/** The states that are alarms: that of all episodes and those of single policies. */
export function alarmsIn(state: RealityState): StateOfSome[] {
  return [state, ...state.policies].filter((one) => one.state === "alarm");
}

const policyOf = (one: StateOfSome) => ("policy" in one ? one.policy : null);

/** Watches environments with a limit of false success. `onAlarm` is called when an alarm begins, overall or for a policy. */
export function watchReality(
  { store }: { store: Store },
  onAlarm: (environment: WatchedEnvironment, state: StateOfSome) => void,
): RealityWatch {
  const known = new LRUCache<string, Known>({ max: mostEnvironments, ttl: keptMs });
  const looking = new Map<string, Promise<RealityState>>();

  async function look(
    requester: Requester,
    { id, name: environment, revision }: WatchedRevision,
    limit: number,
  ): Promise<RealityState> {
    const { accountId } = requester;
    const startedMs = performance.now();
    const before = known.get(keyOf({ id, revision }));
    const wanted = { accountId, environmentId: id, environment, revision };
    const { seen } = await countEpisodes(store.briefReader(requester), wanted);
    const state =
      before?.seen === seen ? before.watched.state : await countFromFirst(store, requester, wanted, limit);
    const atMs = performance.now();
    const ageMs = Math.max(usualAgeMs, (atMs - startedMs) / mostOfTime);
    const watched = { id, accountId, environment, state };
    known.set(keyOf({ id, revision }), { watched, revision, seen, atMs, usualAgeMs: ageMs });
    const ringing = new Set(before && alarmsIn(before.watched.state).map(policyOf));
    for (const alarm of alarmsIn(state)) if (!ringing.has(policyOf(alarm))) onAlarm(watched, alarm);
    return state;
  }

  return {
    async stateOf(requester, environment, maxAgeMs) {
      const limit = environment.config.real?.false_success_limit;
      if (typeof limit !== "number") return undefined;
      const key = keyOf(environment);
      const before = known.get(key);
      const ageMs = before === undefined ? Number.POSITIVE_INFINITY : performance.now() - before.atMs;
      if (before !== undefined && ageMs < (maxAgeMs ?? before.usualAgeMs)) return before.watched.state;
      // Concurrent callers share one look, which is completed even if the first of them hangs up.
      const signal = AbortSignal.timeout(lookMs);
      const found =
        looking.get(key) ??
        look({ ...requester, signal }, environment, limit).finally(() => looking.delete(key));
      looking.set(key, found);
      if (before === undefined || maxAgeMs !== undefined || ageMs > before.usualAgeMs + staleMs)
        return await found;
      found.catch(() => {});
      return before.watched.state;
    },
    async all() {
      const all = [...known.values()].toSorted((one, other) => one.revision - other.revision);
      const seen = new Map(all.map(({ watched, revision }) => [watched.id, revision]));
      // If the database does not answer, the metrics soon report what is known: they matter most in an outage.
      const answer = selectLatest(store.database, [...seen.keys()]).catch(() => undefined);
      const latest = (await Promise.race([answer, sleep(metricsWaitMs)])) ?? seen;
      return all.flatMap(({ watched, revision }) => (latest.get(watched.id) === revision ? watched : []));
    },
  };
}

const lookMs = 300_000;
const metricsWaitMs = 500;

function keyOf({ id, revision }: Pick<EnvironmentRevision, "id" | "revision">): string {
  return `${id}@${revision}`;
}

const episodesAtOnce = 10_000;

/** Counts from the first check of the revision: a sliding window would lose the guarantee. */
async function countFromFirst(store: Store, requester: Requester, wanted: RevisionChecks, limit: number) {
  const reader = store.reader(requester);
  const alarm = startAlarm(limit);
  const again = await selectCheckedAgain(reader, wanted);
  for (let after: CheckedPlace | undefined; ; ) {
    const rows = await selectInOrder(reader, wanted, { after, limit: episodesAtOnce });
    for (const row of rows) {
      const { task_id: task, policy, simulated, real, checked_at } = row;
      // Only the last check of an episode counts.
      const times = again.get(toEpisodeKey(row)) ?? 1;
      if (times > 1) again.set(toEpisodeKey(row), times - 1);
      else alarm.add({ task, policy, simulated: simulated === 1, real: real === 1 }, checked_at);
    }
    after = rows.at(-1);
    if (rows.length < episodesAtOnce) return alarm.end();
  }
}

const alpha = 0.05;
const fewestTasks = 20;
const mostPolicies = 200;

/**
 * Whether the false success rate of the episodes that are added, in the order of their checks, is shown to be above the limit, with a
 * look after each of them. Policies share α: the j-th to appear has α/(j(j + 1)), which sums to α however many appear, and a new policy
 * changes nothing that was reported of earlier ones. At most the latest 200 policies are reported.
 *
 * The guarantee (as the number of tasks grows) covers tasks that come one after the other, each whole (see `anytimeRate`). That it also
 * holds where the same tasks keep coming back is only simulated (`alarm.test.ts`, `test/slow/reality-alarm.test.ts`): with 20 to 1,000
 * tasks, equal or unequal in how often they fail and are visited, at rates of exactly the limit from 1 to 30 %, at most 3 % raised an
 * alarm in up to 3,000 looks, and at most 2 % of ten policies together. With the number of tasks in place of the effective one, 12 % did
 * where few tasks have most of the episodes. Tasks that exceed the limit only by chance raise none: the rate is that of tasks like them.
 */
export function startAlarm(limit: number) {
  const overall = watch(limit, alpha);
  const byPolicy = new Map<string, Watch>();
  return {
    /** Adds an episode that was checked at a time, if that is known. */
    add({ task, policy, simulated, real }: OutcomePair, at: Micros | null): void {
      if (!simulated) return;
      overall.add(task, !real, at);
      if (policy === null) return;
      const order = byPolicy.size + 1;
      const ofPolicy = byPolicy.get(policy) ?? watch(limit, alpha / (order * (order + 1)));
      byPolicy.set(policy, ofPolicy);
      ofPolicy.add(task, !real, at);
    },
    end(): RealityState {
      const policies = [...byPolicy]
        .slice(-mostPolicies)
        .map(([policy, one]) => ({ policy, ...one.end(policy) }));
      return { false_success_limit: limit, ...overall.end(), policies };
    },
  };
}

type Watch = ReturnType<typeof watch>;

/** Looks after each simulated success, using sums over tasks. */
function watch(limit: number, error: number) {
  const tasks = new Map<string, ClusterSum>();
  const moments = { ...noMoments };
  let ringing: { since: string | null } | undefined;
  const look = () => (tasks.size < fewestTasks ? undefined : anytimeRate(moments, error));

  return {
    add(task: string, isFalse: boolean, at: Micros | null): void {
      const ofTask = tasks.get(task) ?? { count: 0, sum: 0 };
      if (ofTask.count > 0) addCluster(moments, ofTask.count, ofTask.sum, -1);
      ofTask.count += 1;
      ofTask.sum += Number(isFalse);
      tasks.set(task, ofTask);
      addCluster(moments, ofTask.count, ofTask.sum);
      const found = look();
      if (found?.isBelow(limit)) ringing = undefined;
      else if (found?.isAbove(limit)) ringing ??= { since: isoInstantOrNull(at) };
    },
    end(policy?: string) {
      const found = look();
      const { count, sum } = moments;
      const figure = {
        value: count === 0 ? null : sum / count,
        count,
        tasks: tasks.size,
        interval: found === undefined ? null : { ...found.interval(), kind: "anytime-valid" as const },
      };
      const known: RealityState["state"] = ringing === undefined ? "ok" : "alarm";
      return {
        state: found === undefined ? ("too-few" as const) : known,
        since: ringing?.since ?? null,
        ...figure,
        sentence: describeFalseSuccess(figure, sum, { kind: "anytime-valid", policy }),
      };
    },
  };
}
