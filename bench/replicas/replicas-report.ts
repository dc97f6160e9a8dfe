import {
  compareRounds,
  type Figure,
  figureOf,
  type Goal,
  judge,
  none,
  type Read,
  showCount,
  showFigure,
  showPercent,
  showTimes,
  summarise,
  table,
  tableOf,
} from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import type { ProcessGroup } from "../lib/processes.ts";
import { fewReplicas, fewSessions, measureKill, measureOutage, measureSlow } from "./failures.ts";
import {
  fullReplicasPlan,
  type PolicyName,
  policyNames,
  quickReplicasPlan,
  type ReplicasPlan,
} from "./fleet.ts";
import { comparePolicies, measureChoosing, measureSharedPrompt, type PolicySample } from "./policies.ts";

export const replicasPart: Part = {
  title: "Replicas",
  measure: async ({ group, quick }) => {
    const plan = quick ? quickReplicasPlan : fullReplicasPlan;
    const result = await runReplicas(group, plan);
    return {
      goals: judgeReplicas(result, plan),
      problems: findReplicasProblems(result),
      text: writeReplicas(result, plan),
    };
  },
};

const runReplicas = async (group: ProcessGroup, plan: ReplicasPlan) => ({
  policies: await comparePolicies(group, plan),
  sharedPrompt: await measureSharedPrompt(group, plan),
  slow: await measureSlow(group, plan),
  kill: await measureKill(group, plan),
  outage: await measureOutage(group, plan),
  choosing: await measureChoosing(plan.choosing),
});
type ReplicasResult = Awaited<ReturnType<typeof runReplicas>>;

/** Requests that failed although none may. */
const findReplicasProblems = ({ policies, sharedPrompt, kill }: ReplicasResult): string[] => [
  ...[...policies, ...sharedPrompt.values()].flatMap(({ policy, round, failed }) =>
    failed === 0 ? [] : [`replicas, ${policy}, round ${round + 1}: ${failed} steps failed`],
  ),
  ...(kill.failed === 0 ? [] : [`replicas, kill -9: ${kill.failed} steps failed`]),
];

const samplesOf = ({ policies }: ReplicasResult, wanted: PolicyName): PolicySample[] =>
  policies.filter(({ policy }) => policy === wanted);

const policyFigure = (
  result: ReplicasResult,
  policy: PolicyName,
  read: Read<PolicySample>,
): Figure | undefined => figureOf(samplesOf(result, policy), read);

/** Presage's steps a second as a ratio to another policy's, within each round. */
const throughputRatio = (result: ReplicasResult, policy: PolicyName): Figure | undefined =>
  compareRounds(
    samplesOf(result, "presage"),
    samplesOf(result, policy),
    ({ stepsPerSecond }) => stepsPerSecond,
  );

/** Steps a second with one slow replica as a ratio to those of the others alone, within each round. */
const slowRatio = ({ slow }: ReplicasResult): Figure | undefined =>
  figureOf(slow, ({ withSlow, withoutSlow }) => withSlow / withoutSlow);

const atMost = (most: number) => (value: number) => value <= most;
const atLeast = (least: number) => (value: number) => value >= least;

const judgeReplicas = (result: ReplicasResult, { choosing }: ReplicasPlan): Goal[] => {
  const others = policyNames.filter((name) => name !== "presage");
  return [
    judge(
      "At least 95 % of the steps find their prefix",
      policyFigure(result, "presage", ({ hitShare }) => hitShare)?.median,
      atLeast(0.95),
      showPercent,
    ),
    judge(
      "The most loaded holds at most 1.35 times the mean",
      policyFigure(result, "presage", ({ imbalance }) => imbalance)?.median,
      atMost(1.35),
      showTimes,
    ),
    judge(
      "At least 1.5 times round robin's throughput",
      throughputRatio(result, "round robin")?.median,
      atLeast(1.5),
      showTimes,
    ),
    judge(
      "More throughput than every other policy",
      Math.min(...others.map((name) => throughputRatio(result, name)?.median ?? Number.NaN)),
      (ratio) => ratio > 1,
      (ratio) => `${showTimes(ratio)} that of the best other`,
    ),
    judge(
      "With one system prompt of 30 KB for all, none holds more than 1.35 times the mean",
      Math.max(...result.sharedPrompt.values().map(({ imbalance }) => imbalance)),
      atMost(1.35),
      showTimes,
    ),
    judge(
      "With one ten times as slow, at least 0.85 times the throughput of the others alone",
      slowRatio(result)?.median,
      atLeast(0.85),
      showTimes,
    ),
    ...judgeFailures(result),
    judge(
      `Choosing among ${choosing.replicas} takes at most 5 µs of processor time`,
      summarise(result.choosing)?.median,
      atMost(5),
      (us) => `${us.toFixed(1)} µs`,
    ),
  ];
};

const judgeFailures = ({ kill, outage }: ReplicasResult): Goal[] => [
  judge(
    "Kill -9 of one of four under load fails no request",
    kill.failed,
    atMost(0),
    (failed) => `${failed} of ${showCount(kill.steps)} failed`,
  ),
  judge(
    "A killed one is ejected within 1 s",
    kill.ejectedAfterMs,
    atMost(1_000),
    (ms) => `${ms.toFixed(0)} ms`,
  ),
  judge(
    "At least 95 % of the steps of the other sessions stay where they were, also once it is back",
    Math.min(kill.stayedWhileOut, kill.stayedOnceBack),
    atLeast(0.95),
    showPercent,
  ),
  judge("Once back, it never holds more than 1.5 times the mean", kill.mostOnceBack, atMost(1.5), showTimes),
  judge(
    "While all are down, at most 1.2 times as many requests to them as without retries",
    outage.sent / outage.requests,
    atMost(1.2),
    showTimes,
  ),
  judge(
    "Requests are answered again within 5 s of the end of that outage",
    outage.lastFailureAfterMs,
    atMost(5_000),
    (ms) => `the last failed after ${ms.toFixed(0)} ms`,
  ),
];

const percent = (share: number): string => (100 * share).toFixed(1);
const seconds = (ms: number): string => (ms / 1000).toFixed(2);

const policyTable = (result: ReplicasResult): string => {
  const show = (read: Read<PolicySample>, scale?: number) => (policy: PolicyName) =>
    showFigure(policyFigure(result, policy, read), scale);
  return tableOf(policyNames, [
    ["policy", (policy) => (policy === "presage" ? "**Presage**" : policy)],
    ["steps/s", show(({ stepsPerSecond }) => stepsPerSecond)],
    [
      "Presage's as a ratio",
      (policy) => (policy === "presage" ? none : showFigure(throughputRatio(result, policy))),
    ],
    ["p50, ms", show(({ p50Ms }) => p50Ms)],
    ["p99, ms", show(({ p99Ms }) => p99Ms)],
    ["steps that find their prefix, %", show(({ hitShare }) => hitShare, 100)],
    ["most load / mean", show(({ imbalance }) => imbalance)],
    ["Presage's processor time a step, µs", show(({ presageCpuUsPerStep }) => presageCpuUsPerStep)],
  ]);
};

const failureTable = (result: ReplicasResult, plan: ReplicasPlan): string => {
  const { kill, slow, outage } = result;
  const [withSlow, withoutSlow] = (["withSlow", "withoutSlow"] as const).map((which) =>
    showFigure(figureOf(slow, (one) => one[which])),
  );
  return table(
    ["what happens", "figure", ""],
    [
      [
        "one is ten times as slow",
        "steps/s with it, and of the other three alone",
        `${withSlow}, ${withoutSlow}`,
      ],
      ["", "ratio", showFigure(slowRatio(result))],
      ["`kill -9` of one", "steps, failed", `${showCount(kill.steps)}, ${kill.failed}`],
      ["", "ejected after, s", seconds(kill.ejectedAfterMs)],
      ["", "steps of the other sessions that stay while it is out, %", percent(kill.stayedWhileOut)],
      ["it starts again", "up after, s", seconds(kill.upAfterMs)],
      ["", "most load / mean since its start", kill.mostOnceBack.toFixed(2)],
      ["", "steps of the other sessions that stay once it is up, %", percent(kill.stayedOnceBack)],
      [
        `\`kill -9\` of all for ${plan.outage.lastsMs / 1000} s`,
        "clients' requests, and requests to the replicas",
        `${showCount(outage.requests)}, ${showCount(outage.sent)}`,
      ],
      ["", "ratio", (outage.sent / outage.requests).toFixed(3)],
      [
        "they start again",
        "first answer after, last failure after, s",
        `${seconds(outage.firstAnswerAfterMs)}, ${seconds(outage.lastFailureAfterMs)}`,
      ],
    ],
  );
};

const writeReplicas = (result: ReplicasResult, plan: ReplicasPlan): string => {
  const { replicas, sessions, steps, model, rounds, choosing } = plan;
  return `
### ${sessions} sessions of ${steps} steps on ${replicas} mock replicas
A mock replica takes 20 ms for a step, and 1 ms for each 1,000 characters of the prompt that it does not have in memory, which holds
${model.trajectories} trajectories, the least recently used forgotten. It works on ${model.batch} steps at once; the others wait. Each session has a system turn of 16 KB of its
own, adds 0.5 KB with each step and sends \`x-session-id\`; between an answer and its next step the agent thinks for up to 200 ms.
Every policy goes through the same Presage, which has a deployment of all replicas and one for each of them: for the other
policies the load generator chooses, at no cost to Presage, and names the replica in \`x-presage-deployment\`. ${rounds} rounds, in
another order each; the replicas forget in between.

A step finds its prefix if its replica has all before its latest turn in memory. The load is the 99th percentile over time of the most
loaded replica's requests in flight over the mean, while at least half of the sessions wait.

${policyTable(result)}

One system turn of 30 KB for all sessions, and no session header. Chats differ in their first user turn; predictions have nothing that tells
their sessions apart:

${table(
  ["sessions of", "steps/s", "p50, ms", "p99, ms", "most load / mean"],
  [...result.sharedPrompt].map(([kind, { stepsPerSecond, p50Ms, p99Ms, imbalance }]) => [
    kind,
    ...[stepsPerSecond, p50Ms, p99Ms, imbalance].map((value) => showFigure(summarise([value]))),
  ]),
)}

Choosing among ${choosing.replicas} replicas, by the prompt or the session, and keeping account of them takes ${showFigure(summarise(result.choosing))} µs of processor time a call
beyond a call to the only replica, with ${choosing.inFlight} in flight (in the bench's own process, without connections; ${choosing.rounds} rounds).

### Replicas that fail: ${fewSessions} sessions on ${fewReplicas} mock replicas
${failureTable(result, plan)}
`;
};
