import { findProblems, type Goal, none, showFigure, table } from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import { type Figure, summarise } from "../predictions/predictions-report.ts";
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
  evaluateBodies,
  fullEvaluationsPlan,
  heavyBodies,
  longBodies,
  quickEvaluationsPlan,
} from "./workload.ts";

const atConnections = (
  samples: readonly ThroughputSample[],
  connections: number,
): readonly ThroughputSample[] => samples.filter((sample) => sample.connections === connections);

/** The ratio to the bare loop's results a second, within each round. Failed rounds do not count. */
const shareOfBareLoop = (
  samples: readonly ThroughputSample[],
  bare: "barePerSecond" | "barePerSecondAlike" = "barePerSecond",
): Figure | undefined =>
  summarise(
    samples
      .filter(({ problem }) => problem === undefined)
      .map((sample) => sample.requestsPerSecond / sample[bare]),
  );

/** The p99 of small evaluations beside another account's crowd, as a ratio to that beside nothing, within each round. */
const besideCrowd = (samples: readonly AccountsSample[], crowd: Crowd): Figure | undefined => {
  const counted = samples.filter(({ problem }) => problem === undefined);
  const idle = new Map(
    counted.filter((one) => one.crowd === "nothing").map(({ round, p99Us }) => [round, p99Us]),
  );
  return summarise(
    counted
      .filter((one) => one.crowd === crowd)
      .flatMap(({ round, p99Us }) => {
        const idleUs = idle.get(round);
        return idleUs === undefined ? [] : [p99Us / idleUs];
      }),
  );
};

const leastShare = 0.2;
const mostP99Ratio = 3;

/** Judged with the most connections, as in a training run of hundreds of rollouts. What fewer reach is said beside it. */
const judgeThroughput = (
  samples: readonly ThroughputSample[],
  { connections }: EvaluationsPlan["throughput"],
): Goal => {
  const most = Math.max(...connections);
  const text = `At ${most} connections, at least 1/5 of a bare insert loop's results a second`;
  const shareAt = (count: number) => shareOfBareLoop(atConnections(samples, count))?.median;
  const share = shareAt(most);
  if (share === undefined) return { text, measured: "not measured", met: undefined };
  const beside = connections
    .filter((count) => count !== most)
    .map((count) => ` (${showShare(shareAt(count))} at ${count})`);
  return { text, measured: `${showShare(share)}${beside.join("")}`, met: share >= leastShare };
};

const showShare = (share: number | undefined): string =>
  share === undefined ? "not measured" : `1/${(1 / share).toFixed(1)}`;

const judgeAccounts = (
  samples: readonly AccountsSample[],
  { heavyInFlight }: EvaluationsPlan["accounts"],
): Goal[] =>
  (["expensive rules", "bodies of a megabyte"] as const).map((crowd) => {
    const ratio = besideCrowd(samples, crowd)?.median;
    return {
      text: `Beside ${heavyInFlight} evaluations of another account (${crowd}), the p99 of small ones is at most ${mostP99Ratio} times that beside nothing`,
      measured: ratio === undefined ? "not measured" : `${ratio.toFixed(2)} times`,
      met: ratio === undefined ? undefined : ratio <= mostP99Ratio,
    };
  });

const bodyKilobytes = ((evaluateBodies.split("\n")[0]?.length ?? 0) / 1000).toFixed(1);

const writeThroughput = (
  samples: readonly ThroughputSample[],
  { connections, rounds }: EvaluationsPlan["throughput"],
): string => {
  const columns = connections.map((count) =>
    atConnections(samples, count).filter(({ problem }) => problem === undefined),
  );
  const row = (title: string, read: (counted: readonly ThroughputSample[]) => string) => [
    title,
    ...columns.map(read),
  ];
  const figures = (title: string, read: (sample: ThroughputSample) => number, scale = 1) =>
    row(title, (counted) => showFigure(summarise(counted.map(read)), scale));
  return `
### Stored before the response
\`POST /v1/evaluate\` of ${bodyKilobytes} KB with one exact-match, captured, with an SQLite file; ${rounds} rounds; each measurement has a new
database, which afterwards had a result for every response that wrk received. Then a bare loop in a separate process inserts the
same results (each with a row for its texts and one for its tag) into the same schema: prepared statements, transactions of 500,
WAL, \`synchronous = FULL\`. The loop has the machine to itself; Presage shares it with wrk. It runs once more with as many results in a
transaction as Presage had: a commit waits for the disk, and holds at most as many results as there are connections.

${table(
  ["", ...connections.map((count) => `${count} connections`)],
  [
    figures("**Presage**, results/s", (one) => one.requestsPerSecond),
    figures("p50, ms", (one) => one.p50Us, 1 / 1000),
    figures("p99, ms", (one) => one.p99Us, 1 / 1000),
    figures("a bare loop, results/s", (one) => one.barePerSecond),
    row("Presage, as a ratio to the loop", (counted) => showFigure(shareOfBareLoop(counted))),
    figures("results in a transaction of Presage", (one) => one.resultsPerCommit),
    figures("a bare loop with as many, results/s", (one) => one.barePerSecondAlike),
    row("Presage, as a ratio to that loop", (counted) =>
      showFigure(shareOfBareLoop(counted, "barePerSecondAlike")),
    ),
  ],
)}
`;
};

const writeBeside = (
  samples: readonly BesideSample[],
  { connections, delayMs, heavyInFlight }: EvaluationsPlan["beside"],
): string => {
  const counted = samples.filter(({ problem }) => problem === undefined);
  const row = (title: string, read: (sample: BesideSample) => BesideSample["idle"]) => [
    title,
    ...(["p50Us", "p99Us", "maxUs"] as const).map((measure) =>
      showFigure(summarise(counted.map((sample) => read(sample)[measure])), 1 / 1000),
    ),
  ];
  const evaluated = showFigure(summarise(counted.map((sample) => sample.evaluated)));
  const kilobytes = heavyBodies.map((body) => `${(body.length / 1000).toFixed(0)} KB`).join(", ");
  return `
### Predictions beside ${heavyInFlight} expensive evaluations
Predictions over ${connections} connections, the upstream takes ${delayMs} ms; alternately without other load and with ${heavyInFlight} evaluations always in
flight: edit-distance, rouge-l and regex of long texts (${kilobytes} a request). ${evaluated} of them finished in a round, from 1.5 s before its measurement on.

${table(
  ["", "p50, ms", "p99, ms", "slowest, ms"],
  [row("idle", ({ idle }) => idle), row("beside the evaluations", ({ busy }) => busy)],
)}
`;
};

const writeAccounts = (
  samples: readonly AccountsSample[],
  { connections, rounds, heavyInFlight }: EvaluationsPlan["accounts"],
): string => {
  const rows = crowds.map((crowd) => {
    const own = samples.filter((sample) => sample.crowd === crowd && sample.problem === undefined);
    const show = (read: (sample: AccountsSample) => number, scale?: number) =>
      showFigure(summarise(own.map(read)), scale);
    return [
      crowd,
      show(({ p50Us }) => p50Us, 1 / 1000),
      show(({ p99Us }) => p99Us, 1 / 1000),
      crowd === "nothing" ? none : showFigure(besideCrowd(samples, crowd)),
      show(({ maxUs }) => maxUs, 1 / 1000),
      crowd === "nothing" ? none : show(({ ended }) => ended),
    ];
  });
  const megabytes = ((longBodies[0]?.length ?? 0) / 1e6).toFixed(1);
  return `
### Small evaluations beside ${heavyInFlight} heavy ones of another account
Evaluations of ${bodyKilobytes} KB with one exact-match over ${connections} connections, stored in an SQLite file, while another account always has ${heavyInFlight} in flight: the
expensive rules above, or bodies of ${megabytes} MB with one exact-match, of which nothing is stored. ${rounds} rounds in turns; ratios are taken within a round. The clients share the cores.

${table(["beside", "p50, ms", "p99, ms", "p99, as a ratio to nothing", "slowest, ms", "heavy ones that ended, from 1.5 s before"], rows)}
`;
};

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
