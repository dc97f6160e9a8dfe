import { summarise } from "../report/figures.ts";
import { showFigure, table } from "../report/markdown.ts";
import { heavyBodies } from "./beside/heavy-bodies.ts";
import type { BesideSample } from "./beside/measure-beside.ts";
import { atConnections, shareOfBareLoop } from "./evaluation-figures.ts";
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
\`POST /v1/evaluate\` of ${bodyKilobytes} KB with one exact-match, captured, with an SQLite file; ${rounds} rounds, each with a new
database, which afterwards had one result for each response that wrk received. Then a bare loop in a separate process inserts the
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
flight: edit-distance, rouge-l and regex of long texts (${kilobytes} a request). ${evaluated} of them finished in a round.

${table(
  ["", "p50, ms", "p99, ms", "slowest, ms"],
  [row("idle", ({ idle }) => idle), row("beside the evaluations", ({ busy }) => busy)],
)}
`;
};
