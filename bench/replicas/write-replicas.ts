import { summarise } from "../report/figures.ts";
import { none, showFigure, table } from "../report/markdown.ts";
import type { PolicySample } from "./compare-policies.ts";
import { fewReplicas, fewSessions, type ReplicasPlan } from "./plan-replicas.ts";
import { policyNames } from "./play-sessions.ts";
import { choosingFigure, policyFigure, slowRatio, throughputRatio } from "./replicas-figures.ts";
import type { ReplicasResult } from "./run-replicas.ts";

const percent = (share: number): string => (100 * share).toFixed(1);
const seconds = (ms: number): string => (ms / 1000).toFixed(2);

export const writeReplicas = (result: ReplicasResult, plan: ReplicasPlan): string => {
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
    ["", "steps of the other sessions that stay while it is out, %", percent(kill.stayedWhileOut)],
    ["it starts again", "up after, s", seconds(kill.upAfterMs)],
    ["", "most load / mean since its start", kill.mostOnceBack.toFixed(2)],
    ["", "steps of the other sessions that stay once it is up, %", percent(kill.stayedOnceBack)],
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
