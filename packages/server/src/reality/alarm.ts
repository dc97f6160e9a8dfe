import type { RealityState } from "@presage/contract";
import {
  addCluster,
  anytimeCriticalValue,
  type ClusterSum,
  clusteredError,
  effectiveClusters,
  noMoments,
  rateInterval,
} from "../platform/statistics/intervals.ts";
import type { OutcomePair } from "../platform/statistics/outcome-pairs.ts";
import { describeFalseSuccess } from "./figures.ts";

/** As the wire has it, but that it says since which episode, by its index. */
type StateOf<Wire> = Omit<Wire, "since"> & { since: number | null };
export type Alarm = StateOf<Omit<RealityState, "policies">> & {
  policies: StateOf<RealityState["policies"][number]>[];
};

const alpha = 0.05;
const fewestTasks = 20;
const mostPolicies = 200;

/**
 * Whether the false success rate of these episodes, in the order of their checks, is shown to be above the limit, with a look after each
 * of them. Policies share α: the j-th to come has α/(j(j + 1)), which is α in all however many come, and nothing that was said of those
 * before changes. Of more than 200 the latest are told.
 *
 * The interval is the rate's of `clustered-interval`, Wilson's with the design effect of tasks, with an anytime-valid critical value for
 * the effective number of tasks. What is proven is asymptotic and for tasks that come one after the other, each whole: Waudby-Smith et al.
 * (2024). That it also holds where the same tasks come again and again is simulated only (`alarm.test.ts`, `test/slow/reality-alarm`): of
 * 20 to 1,000 tasks, visited alike or very unlike, up to 3,000 looks at a rate of exactly the limit, at most 5 % ring. With the number of
 * tasks in place of the effective one, 12 % did where few tasks have most of the episodes.
 */
export function alarmOf(
  episodes: readonly OutcomePair[],
  limit: number,
  { policies = true }: { policies?: boolean } = {},
): Alarm {
  const overall = watch(limit, alpha);
  const byPolicy = new Map<string, Watch>();
  for (const [index, { task, policy, simulated, real }] of episodes.entries()) {
    if (!simulated) continue;
    overall.add(task, !real, index);
    if (!policies || policy === null) continue;
    const order = byPolicy.size + 1;
    const ofPolicy = byPolicy.get(policy) ?? watch(limit, alpha / (order * (order + 1)));
    byPolicy.set(policy, ofPolicy);
    ofPolicy.add(task, !real, index);
  }
  return {
    false_success_limit: limit,
    ...overall.end(),
    policies: [...byPolicy].slice(-mostPolicies).map(([policy, one]) => ({ policy, ...one.end() })),
  };
}

type Watch = ReturnType<typeof watch>;

/** Looks after each simulated success, by sums over tasks. */
function watch(limit: number, error: number) {
  const tasks = new Map<string, ClusterSum>();
  const moments = { ...noMoments };
  let since: number | null = null;

  function interval() {
    if (tasks.size < fewestTasks) return null;
    const critical = anytimeCriticalValue(effectiveClusters(moments), error);
    return rateInterval(moments, clusteredError(moments), critical);
  }

  return {
    add(task: string, isFalse: boolean, index: number): void {
      const ofTask = tasks.get(task) ?? { count: 0, sum: 0 };
      if (ofTask.count > 0) addCluster(moments, ofTask.count, ofTask.sum, -1);
      ofTask.count += 1;
      ofTask.sum += Number(isFalse);
      tasks.set(task, ofTask);
      addCluster(moments, ofTask.count, ofTask.sum);
      const found = interval();
      if (found === null) return;
      if (since === null && found.lower > limit) since = index;
      else if (found.upper < limit) since = null;
    },
    end() {
      const found = interval();
      const { count, sum } = moments;
      const figure = { value: count === 0 ? null : sum / count, count, tasks: tasks.size };
      const state: RealityState["state"] = found === null ? "too-few" : since === null ? "ok" : "alarm";
      const told = found && { ...found, level: 1 - error, kind: "anytime-valid" as const };
      return {
        state,
        since,
        ...figure,
        interval: told,
        sentence: describeFalseSuccess({ ...figure, interval: told }, sum, "anytime-valid"),
      };
    },
  };
}
