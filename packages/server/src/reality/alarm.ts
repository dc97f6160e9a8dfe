import type { RealityState } from "@presage/contract";
import { anytimeRate } from "../platform/statistics/anytime.ts";
import { addCluster, type ClusterSum, noMoments } from "../platform/statistics/intervals.ts";
import type { OutcomePair } from "../platform/statistics/outcome-pairs.ts";
import { describeFalseSuccess } from "./figures.ts";

/** As the wire has it, but that it says since which episode, by what was said of it when it was added. */
type StateOf<Wire> = Omit<Wire, "since"> & { since: number | null };
export type Alarm = StateOf<Omit<RealityState, "policies">> & {
  policies: StateOf<RealityState["policies"][number]>[];
};

const alpha = 0.05;
const fewestTasks = 20;
const mostPolicies = 200;

/**
 * Whether the false success rate of the episodes that are added, in the order of their checks, is shown to be above the limit, with a look
 * after each of them. Policies share α: the j-th to come has α/(j(j + 1)), which is α in all however many come, and nothing that was said of
 * those before changes. Of more than 200 the latest are told.
 *
 * Guaranteed, as the number of tasks grows, is what is said of tasks that come one after the other, each whole (see `anytimeRate`). That it
 * holds where the same tasks come again and again is only simulated (`alarm.test.ts`, `test/slow/reality-alarm.test.ts`): of 20 to 1,000
 * tasks that fail alike or unlike and are visited alike or unlike, at rates of exactly the limit from 1 to 30 %, at most 3 % rang in up to
 * 3,000 looks, and of ten policies together at most 2 %. By the number of tasks in place of the effective one, 12 % did where few tasks
 * have most of the episodes. A limit that only the tasks at hand exceed, by chance, does not ring: the rate is that of tasks like these.
 */
export function startAlarm(limit: number) {
  const overall = watch(limit, alpha);
  const byPolicy = new Map<string, Watch>();
  return {
    add({ task, policy, simulated, real }: OutcomePair, at: number | null): void {
      if (!simulated) return;
      overall.add(task, !real, at);
      if (policy === null) return;
      const order = byPolicy.size + 1;
      const ofPolicy = byPolicy.get(policy) ?? watch(limit, alpha / (order * (order + 1)));
      byPolicy.set(policy, ofPolicy);
      ofPolicy.add(task, !real, at);
    },
    end(): Alarm {
      const policies = [...byPolicy].slice(-mostPolicies).map(([policy, one]) => ({ policy, ...one.end() }));
      return { false_success_limit: limit, ...overall.end(), policies };
    },
  };
}

type Watch = ReturnType<typeof watch>;

/** Looks after each simulated success, by sums over tasks. */
function watch(limit: number, error: number) {
  const tasks = new Map<string, ClusterSum>();
  const moments = { ...noMoments };
  let ringing: { since: number | null } | undefined;
  const look = () => (tasks.size < fewestTasks ? undefined : anytimeRate(moments, error));

  return {
    add(task: string, isFalse: boolean, at: number | null): void {
      const ofTask = tasks.get(task) ?? { count: 0, sum: 0 };
      if (ofTask.count > 0) addCluster(moments, ofTask.count, ofTask.sum, -1);
      ofTask.count += 1;
      ofTask.sum += Number(isFalse);
      tasks.set(task, ofTask);
      addCluster(moments, ofTask.count, ofTask.sum);
      const found = look();
      if (found?.isBelow(limit)) ringing = undefined;
      else if (found?.isAbove(limit)) ringing ??= { since: at };
    },
    end() {
      const found = look();
      const { count, sum } = moments;
      const figure = {
        ...{ value: count === 0 ? null : sum / count, count, tasks: tasks.size },
        interval: found === undefined ? null : { ...found.interval(), kind: "anytime-valid" as const },
      };
      const known: RealityState["state"] = ringing === undefined ? "ok" : "alarm";
      return {
        ...{ state: found === undefined ? ("too-few" as const) : known, since: ringing?.since ?? null },
        ...{ ...figure, sentence: describeFalseSuccess(figure, sum, "anytime-valid") },
      };
    },
  };
}
