import {
  compareRounds,
  type Figure,
  figureOf,
  findProblems,
  type Goal,
  judge,
  none,
  type Read,
  showFigure,
  showTimes,
  tableOf,
  withoutProblems,
} from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import {
  type AccountsSample,
  type BesideSample,
  type Crowd,
  crowds,
  measureAccounts,
  measureBeside,
} from "./beside.ts";
import { measureThroughput, type ThroughputSample } from "./throughput.ts";
import {
  type EvaluationsPlan,
  evaluateBodyKilobytes,
  fullEvaluationsPlan,
  heavyBodies,
  longBodies,
  quickEvaluationsPlan,
} from "./workload.ts";

export const evaluationsPart: Part = {
  title: "Evaluations",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickEvaluationsPlan : fullEvaluationsPlan;
    const throughput = await measureThroughput(group, (await upstream()).origin, plan.throughput);
    const beside = await measureBeside(group, await upstream(), plan.beside);
    const accounts = await measureAccounts(group, (await upstream()).origin, plan.accounts);
    return {
      goals: [judgeThroughput(throughput, plan.throughput), ...judgeAccounts(accounts, plan.accounts)],
      problems: [
        ...findProblems(
          throughput,
          ({ round, connections }) => `evaluations, round ${round + 1}, ${connections} connections`,
        ),
        ...findProblems(beside, ({ round }) => `predictions beside evaluations, round ${round + 1}`),
        ...findProblems(accounts, ({ crowd, round }) => `evaluations beside ${crowd}, round ${round + 1}`),
      ],
      text:
        writeThroughput(throughput, plan.throughput) +
        writeBeside(beside, plan.beside) +
        writeAccounts(accounts, plan.accounts),
    };
  },
};

/** A figure of the rounds with this number of connections. */
const throughputFigure = (
  samples: readonly ThroughputSample[],
  count: number,
  read: Read<ThroughputSample>,
): Figure | undefined =>
  figureOf(
    withoutProblems(samples).filter(({ connections }) => connections === count),
    read,
  );

const shareOfBareLoop: Read<ThroughputSample> = (one) => one.requestsPerSecond / one.barePerSecond;
const shareOfLoopAlike: Read<ThroughputSample> = (one) => one.requestsPerSecond / one.barePerSecondAlike;

const leastShare = 0.2;

/** The goal is for the most connections, as in a training run of hundreds of rollouts; the report also shows fewer. */
const judgeThroughput = (
  samples: readonly ThroughputSample[],
  { connections }: EvaluationsPlan["throughput"],
): Goal => {
  const most = Math.max(...connections);
  const shareAt = (count: number) => throughputFigure(samples, count, shareOfBareLoop)?.median;
  const show = (share: number | undefined) =>
    share === undefined ? "not measured" : `1/${(1 / share).toFixed(1)}`;
  const beside = connections
    .filter((count) => count !== most)
    .map((count) => ` (${show(shareAt(count))} at ${count})`);
  return judge(
    `At ${most} connections, at least 1/5 of a bare insert loop's results a second`,
    shareAt(most),
    (share) => share >= leastShare,
    (share) => `${show(share)}${beside.join("")}`,
  );
};

const crowdOf = (samples: readonly AccountsSample[], wanted: Crowd): AccountsSample[] =>
  withoutProblems(samples).filter(({ crowd }) => crowd === wanted);

/** The p99 of small evaluations alongside another account's crowd, as a ratio to their p99 alone, within each round. */
const besideCrowd = (samples: readonly AccountsSample[], crowd: Crowd): Figure | undefined =>
  compareRounds(crowdOf(samples, crowd), crowdOf(samples, "nothing"), ({ p99Us }) => p99Us);

const mostP99Ratio = 3;

const judgeAccounts = (
  samples: readonly AccountsSample[],
  { heavyInFlight }: EvaluationsPlan["accounts"],
): Goal[] =>
  (["expensive rules", "bodies of a megabyte"] as const).map((crowd) =>
    judge(
      `Beside ${heavyInFlight} evaluations of another account (${crowd}), the p99 of small ones is at most ${mostP99Ratio} times that beside nothing`,
      besideCrowd(samples, crowd)?.median,
      (ratio) => ratio <= mostP99Ratio,
      showTimes,
    ),
  );

const writeThroughput = (
  samples: readonly ThroughputSample[],
  { connections, rounds }: EvaluationsPlan["throughput"],
): string => {
  const rows: readonly (readonly [string, Read<ThroughputSample>, scale?: number])[] = [
    ["**Presage**, results/s", (one) => one.requestsPerSecond],
    ["p50, ms", (one) => one.p50Us, 1 / 1000],
    ["p99, ms", (one) => one.p99Us, 1 / 1000],
    ["a bare loop, results/s", (one) => one.barePerSecond],
    ["Presage, as a ratio to the loop", shareOfBareLoop],
    ["results in a transaction of Presage", (one) => one.resultsPerCommit],
    ["a bare loop with as many, results/s", (one) => one.barePerSecondAlike],
    ["Presage, as a ratio to that loop", shareOfLoopAlike],
  ];
  return `
### Stored before the response
\`POST /v1/evaluate\` of ${evaluateBodyKilobytes} KB with one exact-match, captured, with an SQLite file; ${rounds} rounds; each measurement has a new
database, which afterwards had a result for every response that wrk received. Then a bare loop in a separate process inserts the
same results (each with a row for its texts and one for its tag) into the same schema: prepared statements, transactions of 500,
WAL, \`synchronous = FULL\`. The loop has the machine to itself; Presage shares it with wrk. It runs once more with as many results in a
transaction as Presage had: a commit waits for the disk, and holds at most as many results as there are connections.

${tableOf(rows, [
  ["", ([title]) => title],
  ...connections.map(
    (count) =>
      [
        `${count} connections`,
        ([, read, scale]: (typeof rows)[number]) => showFigure(throughputFigure(samples, count, read), scale),
      ] as const,
  ),
])}
`;
};

const writeBeside = (
  samples: readonly BesideSample[],
  { connections, delayMs, heavyInFlight }: EvaluationsPlan["beside"],
): string => {
  const counted = withoutProblems(samples);
  const show = (measure: "p50Us" | "p99Us" | "maxUs") => (load: "idle" | "busy") =>
    showFigure(
      figureOf(counted, (sample) => sample[load][measure]),
      1 / 1000,
    );
  const evaluated = showFigure(figureOf(counted, (sample) => sample.evaluated));
  const kilobytes = heavyBodies.map((body) => `${(body.length / 1000).toFixed(0)} KB`).join(", ");
  return `
### Predictions beside ${heavyInFlight} expensive evaluations
Predictions over ${connections} connections, the upstream takes ${delayMs} ms; alternately without other load and with ${heavyInFlight} evaluations always in
flight: edit-distance, rouge-l and regex of long texts (${kilobytes} a request). ${evaluated} of them finished in a round, from 1.5 s before its measurement on.

${tableOf(
  ["idle", "busy"],
  [
    ["", (load) => (load === "busy" ? "beside the evaluations" : load)],
    ["p50, ms", show("p50Us")],
    ["p99, ms", show("p99Us")],
    ["slowest, ms", show("maxUs")],
  ],
)}
`;
};

const writeAccounts = (
  samples: readonly AccountsSample[],
  { connections, rounds, heavyInFlight }: EvaluationsPlan["accounts"],
): string => {
  const show = (read: Read<AccountsSample>, scale?: number) => (crowd: Crowd) =>
    showFigure(figureOf(crowdOf(samples, crowd), read), scale);
  const unlessNothing = (write: (crowd: Crowd) => string) => (crowd: Crowd) =>
    crowd === "nothing" ? none : write(crowd);
  const megabytes = ((longBodies[0]?.length ?? 0) / 1e6).toFixed(1);
  return `
### Small evaluations beside ${heavyInFlight} heavy ones of another account
Evaluations of ${evaluateBodyKilobytes} KB with one exact-match over ${connections} connections, stored in an SQLite file, while another account always has ${heavyInFlight} in flight: the
expensive rules above, or bodies of ${megabytes} MB with one exact-match, of which nothing is stored. ${rounds} rounds in turns; ratios are taken within a round. The clients share the cores.

${tableOf(crowds, [
  ["beside", (crowd) => crowd],
  ["p50, ms", show(({ p50Us }) => p50Us, 1 / 1000)],
  ["p99, ms", show(({ p99Us }) => p99Us, 1 / 1000)],
  ["p99, as a ratio to nothing", unlessNothing((crowd) => showFigure(besideCrowd(samples, crowd)))],
  ["slowest, ms", show(({ maxUs }) => maxUs, 1 / 1000)],
  ["heavy ones that ended, from 1.5 s before", unlessNothing(show(({ ended }) => ended))],
])}
`;
};
