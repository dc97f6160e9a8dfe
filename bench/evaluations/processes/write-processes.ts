import { none, showFigure, table } from "../../report/markdown.ts";
import type { ProcessesPlan, ProcessesResult, ProcessesSample } from "./measure-processes.ts";
import { cpuRatio, figureOf } from "./processes-figures.ts";

export const writeProcesses = (
  result: ProcessesResult,
  { counts, connectionsOfEach, rounds }: ProcessesPlan,
): string => {
  const [fewest = 1] = counts;
  const most = Math.max(...counts);
  const rows = [...counts.map((count) => ({ count, databases: 1 })), { count: most, databases: most }];
  if (result.notMeasured !== undefined) return `\nNot measured: ${result.notMeasured}.\n`;
  return `
\`POST /v1/evaluate\` as in «Evaluations», to each process over ${connectionsOfEach} connections; ${rounds} rounds, each with a new database. PostgreSQL
has its default settings except \`fsync = off\`, and shares the machine with Presage and wrk. Every 10 ms, each active session of Presage is
sampled: is it waiting for another transaction's lock, or for a latch inside PostgreSQL (LWLock)? The last row
is for comparison: processes that share only the machine, which also costs them processor time.

${table(
  [
    "processes",
    "results/s",
    "p50, ms",
    "p99, ms",
    "processor time a request, µs",
    `ratio to ${fewest}`,
    "PostgreSQL's, µs",
    "waiting for locks, %",
    "for latches, %",
  ],
  rows.map(({ count, databases }) => {
    const show = (read: (sample: ProcessesSample) => number, scale?: number) =>
      showFigure(figureOf(result, count, read, databases), scale);
    return [
      databases === 1 ? String(count) : `${count}, each with its own database`,
      show(({ requestsPerSecond }) => requestsPerSecond),
      show(({ p50Us }) => p50Us, 1 / 1000),
      show(({ p99Us }) => p99Us, 1 / 1000),
      show(({ cpuUsPerRequest }) => cpuUsPerRequest),
      count === fewest ? none : showFigure(cpuRatio(result, count, fewest, databases)),
      show(({ postgresCpuUsPerRequest }) => postgresCpuUsPerRequest),
      show(({ lockShare }) => lockShare, 100),
      show(({ latchShare }) => latchShare, 100),
    ];
  }),
)}
`;
};
