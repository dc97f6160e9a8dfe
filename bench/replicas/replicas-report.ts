import { type Goal, none, showFigure, table } from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import type { ProcessGroup } from "../lib/processes.ts";
import { type Figure, summarise } from "../predictions/predictions-report.ts";
import {
  type KillResult,
  measureKill,
  measureOutage,
  measureSlow,
  type OutageResult,
  type SlowResult,
} from "./failures.ts";
import {
  fewReplicas,
  fewSessions,
  fullReplicasPlan,
  type PolicyName,
  policyNames,
  quickReplicasPlan,
  type ReplicasPlan,
} from "./fleet.ts";
import {
  type ChoosingSample,
  comparePolicies,
  measureChoosing,
  measureSharedPrompt,
  type PolicySample,
  type SharedPromptKind,
} from "./policies.ts";

export interface ReplicasResult {
  readonly policies: readonly PolicySample[];
  readonly sharedPrompt: ReadonlyMap<SharedPromptKind, PolicySample>;
  readonly slow: readonly SlowResult[];
  readonly kill: KillResult;
  readonly outage: OutageResult;
  readonly choosing: readonly ChoosingSample[];
}

const runReplicas = async (group: ProcessGroup, plan: ReplicasPlan): Promise<ReplicasResult> => ({
  policies: await comparePolicies(group, plan),
  sharedPrompt: await measureSharedPrompt(group, plan),
  slow: await measureSlow(group, plan),
  kill: await measureKill(group, plan),
  outage: await measureOutage(group, plan),
  choosing: await measureChoosing(plan.choosing),
});

/** Requests that failed where none may. */
const findReplicasProblems = ({ policies, sharedPrompt, kill }: ReplicasResult): string[] => [
  ...[...policies, ...sharedPrompt.values()].flatMap(({ policy, round, failed }) =>
    failed === 0 ? [] : [`replicas, ${policy}, round ${round + 1}: ${failed} steps failed`],
  ),
  ...(kill.failed === 0 ? [] : [`replicas, kill -9: ${kill.failed} steps failed`]),
];

const samplesOf = ({ policies }: ReplicasResult, policy: PolicyName): PolicySample[] =>
  policies.filter((sample) => sample.policy === policy);

const policyFigure = (
  result: ReplicasResult,
  policy: PolicyName,
  read: (sample: PolicySample) => number,
): Figure | undefined => summarise(samplesOf(result, policy).map(read));

/** Presage's steps a second as a ratio to another policy's, within each round. */
const throughputRatio = (result: ReplicasResult, policy: PolicyName): Figure | undefined =>
  summarise(
    samplesOf(result, "presage").flatMap(({ round, stepsPerSecond }) => {
      const other = samplesOf(result, policy).find((sample) => sample.round === round);
      return other === undefined ? [] : [stepsPerSecond / other.stepsPerSecond];
    }),
  );

/** Microseconds that a call among several replicas takes beyond one to the only replica. */
const choosingFigure = ({ choosing }: ReplicasResult): Figure | undefined =>
  summarise(choosing.map(({ cpuUsPerCall }) => cpuUsPerCall));

/** Steps a second with one slow replica as a ratio to those of the others alone, within each round. */
const slowRatio = ({ slow }: ReplicasResult): Figure | undefined =>
  summarise(slow.map(({ withSlow, withoutSlow }) => withSlow / withoutSlow));

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

const judgeReplicas = (result: ReplicasResult, { choosing: { replicas } }: ReplicasPlan): Goal[] => {
  const goal = (
    text: string,
    read: (result: ReplicasResult) => number | undefined,
    isMet: (value: number) => boolean,
    show: (value: number) => string,
  ): Goal => {
    const value = read(result);
    if (value === undefined || Number.isNaN(value)) return { text, measured: "not measured", met: undefined };
    return { text, measured: show(value), met: isMet(value) };
  };
  const times = (value: number) => `${value.toFixed(2)} times`;
  const others = policyNames.filter((name) => name !== "presage");
  return [
    goal(
      "At least 95 % of the steps find their prefix",
      (given) => policyFigure(given, "presage", ({ hitShare }) => hitShare)?.median,
      (share) => share >= 0.95,
      percent,
    ),
    goal(
      "The most loaded holds at most 1.35 times the mean",
      (given) => policyFigure(given, "presage", ({ imbalance }) => imbalance)?.median,
      (ratio) => ratio <= 1.35,
      times,
    ),
    goal(
      "At least 1.5 times round robin's throughput",
      (given) => throughputRatio(given, "round robin")?.median,
      (ratio) => ratio >= 1.5,
      times,
    ),
    goal(
      "More throughput than every other policy",
      (given) => Math.min(...others.map((name) => throughputRatio(given, name)?.median ?? Number.NaN)),
      (ratio) => ratio > 1,
      (ratio) => `${times(ratio)} that of the best other`,
    ),
    goal(
      "With one system prompt of 30 KB for all, none holds more than 1.35 times the mean",
      (given) => Math.max(...given.sharedPrompt.values().map(({ imbalance }) => imbalance)),
      (ratio) => ratio <= 1.35,
      times,
    ),
    goal(
      "With one ten times as slow, at least 0.85 times the throughput of the others alone",
      (given) => slowRatio(given)?.median,
      (ratio) => ratio >= 0.85,
      times,
    ),
    goal(
      "Kill -9 of one of four under load fails no request",
      ({ kill }) => kill.failed,
      (failed) => failed === 0,
      (failed) => `${failed} of ${result?.kill.steps.toLocaleString("en-US")} failed`,
    ),
    goal(
      "A killed one is ejected within 1 s",
      ({ kill }) => kill.ejectedAfterMs,
      (ms) => ms <= 1_000,
      (ms) => `${ms.toFixed(0)} ms`,
    ),
    goal(
      "At least 95 % of the steps of the other sessions stay where they were, also once it is back",
      ({ kill }) => Math.min(kill.stayedWhileOut, kill.stayedOnceBack),
      (share) => share >= 0.95,
      percent,
    ),
    goal(
      "Once back, it never holds more than 1.5 times the mean",
      ({ kill }) => kill.mostOnceBack,
      (ratio) => ratio <= 1.5,
      times,
    ),
    goal(
      "While all are down, at most 1.2 times as many requests to them as without retries",
      ({ outage }) => outage.sent / outage.requests,
      (ratio) => ratio <= 1.2,
      times,
    ),
    goal(
      "Requests are answered again within 5 s of the end of that outage",
      ({ outage }) => outage.lastFailureAfterMs,
      (ms) => ms <= 5_000,
      (ms) => `the last failed after ${ms.toFixed(0)} ms`,
    ),
    goal(
      `Choosing among ${replicas} takes at most 5 µs of processor time`,
      (given) => choosingFigure(given)?.median,
      (us) => us <= 5,
      (us) => `${us.toFixed(1)} µs`,
    ),
  ];
};

const percentOfWriteReplicas = (share: number): string => (100 * share).toFixed(1);
const seconds = (ms: number): string => (ms / 1000).toFixed(2);

const writeReplicas = (result: ReplicasResult, plan: ReplicasPlan): string => {
  const { replicas, sessions, steps, model, rounds } = plan;
  const { kill, slow, outage } = result;
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

${table(
  [
    "policy",
    "steps/s",
    "Presage's as a ratio",
    "p50, ms",
    "p99, ms",
    "steps that find their prefix, %",
    "most load / mean",
    "Presage's processor time a step, µs",
  ],
  policyNames.map((policy) => {
    const show = (read: (sample: PolicySample) => number, scale?: number) =>
      showFigure(policyFigure(result, policy, read), scale);
    return [
      policy === "presage" ? "**Presage**" : policy,
      show(({ stepsPerSecond }) => stepsPerSecond),
      policy === "presage" ? none : showFigure(throughputRatio(result, policy)),
      show(({ p50Ms }) => p50Ms),
      show(({ p99Ms }) => p99Ms),
      show(({ hitShare }) => hitShare, 100),
      show(({ imbalance }) => imbalance),
      show(({ presageCpuUsPerStep }) => presageCpuUsPerStep),
    ];
  }),
)}

One system turn of 30 KB for all sessions, and no session header. Chats differ in their first user turn; predictions have nothing that tells
their sessions apart:

${table(
  ["sessions of", "steps/s", "p50, ms", "p99, ms", "most load / mean"],
  [...result.sharedPrompt].map(([kind, { stepsPerSecond, p50Ms, p99Ms, imbalance }]) => [
    kind,
    ...[stepsPerSecond, p50Ms, p99Ms, imbalance].map((value) => showFigure(summarise([value]))),
  ]),
)}

Choosing among ${plan.choosing.replicas} replicas, by the prompt or the session, and keeping account of them takes ${showFigure(choosingFigure(result))} µs of processor time a call
beyond a call to the only replica, with ${plan.choosing.inFlight} in flight (in the bench's own process, without connections; ${plan.choosing.rounds} rounds).

### Replicas that fail: ${fewSessions} sessions on ${fewReplicas} mock replicas
${table(
  ["what happens", "figure", ""],
  [
    [
      "one is ten times as slow",
      "steps/s with it, and of the other three alone",
      `${showFigure(summarise(slow.map(({ withSlow }) => withSlow)))}, ${showFigure(summarise(slow.map(({ withoutSlow }) => withoutSlow)))}`,
    ],
    ["", "ratio", showFigure(slowRatio(result))],
    ["`kill -9` of one", "steps, failed", `${kill.steps.toLocaleString("en-US")}, ${kill.failed}`],
    ["", "ejected after, s", seconds(kill.ejectedAfterMs)],
    [
      "",
      "steps of the other sessions that stay while it is out, %",
      percentOfWriteReplicas(kill.stayedWhileOut),
    ],
    ["it starts again", "up after, s", seconds(kill.upAfterMs)],
    ["", "most load / mean since its start", kill.mostOnceBack.toFixed(2)],
    [
      "",
      "steps of the other sessions that stay once it is up, %",
      percentOfWriteReplicas(kill.stayedOnceBack),
    ],
    [
      `\`kill -9\` of all for ${plan.outage.lastsMs / 1000} s`,
      "clients' requests, and requests to the replicas",
      `${outage.requests.toLocaleString("en-US")}, ${outage.sent.toLocaleString("en-US")}`,
    ],
    ["", "ratio", (outage.sent / outage.requests).toFixed(3)],
    [
      "they start again",
      "first answer after, last failure after, s",
      `${seconds(outage.firstAnswerAfterMs)}, ${seconds(outage.lastFailureAfterMs)}`,
    ],
  ],
)}
`;
};

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
