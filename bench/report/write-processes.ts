import type { BenchResult } from "../run-bench.ts";
import { none, showFigure, table } from "./markdown.ts";
import { cpuRatio, figureOf } from "./processes-figures.ts";

export const writeProcesses = ({ processes: result, plan }: BenchResult): string => {
  if (result === undefined) return "";
  const { counts, connectionsOfEach, rounds } = plan.processes;
  const [fewest = 1] = counts;
  const title = "## Evaluations: several processes on one PostgreSQL";
  if (result.notMeasured !== undefined) return `\n${title}\nNot measured: ${result.notMeasured}.\n`;
  return `
${title}
\`POST /v1/evaluate\` as above, to each process over ${connectionsOfEach} connections of its own; ${rounds} rounds, each on a fresh database. PostgreSQL
has its default settings but \`fsync = off\`, and shares the machine with Presage and wrk. Every 10 ms one looks at what each of Presage's
sessions that is at work waits for: a lock that another transaction holds, or a latch inside of PostgreSQL (LWLock).

${table(
  [
    "processes",
    "results/s",
    "p50, ms",
    "p99, ms",
    "processor time a request, µs",
    `to that of ${fewest}`,
    "PostgreSQL's, µs",
    "waiting for locks, %",
    "for latches, %",
  ],
  counts.map((count) => [
    String(count),
    showFigure(figureOf(result, count, ({ requestsPerSecond }) => requestsPerSecond)),
    showFigure(
      figureOf(result, count, ({ p50Us }) => p50Us),
      1 / 1000,
    ),
    showFigure(
      figureOf(result, count, ({ p99Us }) => p99Us),
      1 / 1000,
    ),
    showFigure(figureOf(result, count, ({ cpuUsPerRequest }) => cpuUsPerRequest)),
    count === fewest ? none : showFigure(cpuRatio(result, count, fewest)),
    showFigure(figureOf(result, count, ({ postgresCpuUsPerRequest }) => postgresCpuUsPerRequest)),
    showFigure(
      figureOf(result, count, ({ lockShare }) => lockShare),
      100,
    ),
    showFigure(
      figureOf(result, count, ({ latchShare }) => latchShare),
      100,
    ),
  ]),
)}
`;
};
