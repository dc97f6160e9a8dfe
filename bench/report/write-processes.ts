import type { ProcessesSample } from "../evaluations/processes/measure-processes.ts";
import type { BenchResult } from "../run-bench.ts";
import { none, showFigure, table } from "./markdown.ts";
import { cpuRatio, figureOf } from "./processes-figures.ts";

export const writeProcesses = ({ processes: result, plan }: BenchResult): string => {
  if (result === undefined) return "";
  const { counts, connectionsOfEach, rounds } = plan.processes;
  const [fewest = 1] = counts;
  const most = Math.max(...counts);
  const rows = [...counts.map((count) => ({ count, databases: 1 })), { count: most, databases: most }];
  const title = "## Evaluations: several processes on one PostgreSQL";
  if (result.notMeasured !== undefined) return `\n${title}\nNot measured: ${result.notMeasured}.\n`;
  return `
${title}
\`POST /v1/evaluate\` as above, to each process over ${connectionsOfEach} connections of its own; ${rounds} rounds, each on a fresh database. PostgreSQL
has its default settings but \`fsync = off\`, and shares the machine with Presage and wrk. Every 10 ms one looks at what each of Presage's
sessions that is at work waits for: a lock that another transaction holds, or a latch inside of PostgreSQL (LWLock). The last line
is the comparison: processes that share nothing but the machine, which costs them processor time as well.

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
  rows.map(({ count, databases }) => {
    const show = (read: (sample: ProcessesSample) => number, scale?: number) =>
      showFigure(figureOf(result, count, read, databases), scale);
    return [
      databases === 1 ? String(count) : `${count}, each on a database of its own`,
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
