import { summarise } from "../report/figures.ts";
import { none, showFigure, table } from "../report/markdown.ts";
import { heavyBodies, longBodies } from "./beside/heavy-bodies.ts";
import { type AccountsSample, crowds } from "./beside/measure-accounts.ts";
import type { BesideSample } from "./beside/measure-beside.ts";
import { atConnections, besideCrowd, shareOfBareLoop } from "./evaluation-figures.ts";
import type { EvaluationsPlan } from "./plan-evaluations.ts";
import type { ThroughputSample } from "./throughput/measure-throughput.ts";
import { evaluateBodies } from "./throughput/sample-texts.ts";

const bodyKilobytes = ((evaluateBodies.split("\n")[0]?.length ?? 0) / 1000).toFixed(1);

export const writeThroughput = (
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

export const writeBeside = (
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

export const writeAccounts = (
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
