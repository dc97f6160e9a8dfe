import { type Figure, summarise } from "../report/figures.ts";
import type { Goal } from "../report/goal.ts";
import { none, showFigure, table } from "../report/markdown.ts";
import {
  type Arrangement,
  arrangements,
  type WorkersPlan,
  type WorkersResult,
  type WorkersSample,
} from "./measure-workers.ts";

const mostCpuRatio = 1.1;

type Name = Arrangement["name"];
type Read = (sample: WorkersSample) => number | undefined;

const [single, workers, apart] = arrangements;

const countedOf = ({ samples }: WorkersResult, name: Name): WorkersSample[] =>
  samples.filter((sample) => sample.arrangement === name && sample.problem === undefined);

/** A figure as a ratio to another arrangement's, within each round. */
const ratioTo = (result: WorkersResult, name: Name, other: Name, read: Read): Figure | undefined => {
  const others = new Map(countedOf(result, other).map((sample) => [sample.round, read(sample)]));
  return summarise(
    countedOf(result, name).flatMap((sample) => {
      const [own, its] = [read(sample), others.get(sample.round)];
      return own === undefined || its === undefined ? [] : [own / its];
    }),
  );
};

const readCpu: Read = ({ cpuUsPerRequest }) => cpuUsPerRequest;

export const judgeWorkers = (result: WorkersResult): Goal[] => {
  const ratio = ratioTo(result, workers.name, single.name, readCpu)?.median;
  return [
    {
      text: `Predictions with ${workers.name} use at most ${mostCpuRatio} times the processor time a prediction of ${single.name}`,
      measured: ratio === undefined ? "not measured" : `${ratio.toFixed(2)} times`,
      met: ratio === undefined ? undefined : ratio <= mostCpuRatio,
    },
  ];
};

export const writeWorkers = (result: WorkersResult, { connections, rounds }: WorkersPlan): string => {
  if (result.notMeasured !== undefined) return `\nNot measured: ${result.notMeasured}.\n`;
  const rows = arrangements.map(({ name }) => {
    const show = (read: Read, scale?: number) =>
      showFigure(summarise(countedOf(result, name).flatMap((sample) => read(sample) ?? [])), scale);
    const ratio = (read: Read) =>
      name === single.name ? none : showFigure(ratioTo(result, name, single.name, read));
    return [
      name,
      show(({ requestsPerSecond }) => requestsPerSecond),
      ratio(({ requestsPerSecond }) => requestsPerSecond),
      show(readCpu),
      ratio(readCpu),
      show(({ busiestPart }) => busiestPart, 100),
      show(({ p50Us }) => p50Us, 1 / 1000),
      show(({ p99Us }) => p99Us, 1 / 1000),
    ];
  });
  return `
\`POST /v1/predict\` over ${connections} connections, half of them by each of two threads of wrk, no delay at the upstream, PostgreSQL; ${rounds} rounds in turns.
Upstream, wrk and PostgreSQL share the machine's cores, so more processes are faster only where there are more cores.

${table(["", "predictions/s", "to 1", "processor time a prediction, µs", "to 1", "by the busiest process, %", "p50, ms", "p99, ms"], rows)}

- ${single.name}: one process.
- ${workers.name}: a supervisor and two workers on one port. The processor time is that of all three; the system spreads the connections by chance, so the busiest worker may have more than half.
- ${apart.name}: the control. They share one database of PostgreSQL, the upstream and the machine, and nothing of Presage; each has half of the connections. What they cost more than one process is
  not Presage's, but the machine's and PostgreSQL's. ${workers.name} took ${showFigure(ratioTo(result, workers.name, apart.name, readCpu))} times their processor time a prediction.
`;
};
