import { type Figure, summarise } from "../report/figures.ts";
import type { Goal } from "../report/goal.ts";
import { none, showFigure, table } from "../report/markdown.ts";
import type { WorkersPlan, WorkersResult, WorkersSample } from "./measure-workers.ts";

const mostCpuRatio = 1.1;

const countedOf = ({ samples }: WorkersResult, workers: number): WorkersSample[] =>
  samples.filter((sample) => sample.workers === workers && sample.problem === undefined);

/** A figure as a ratio to that with fewer workers, within each round. */
const ratioTo = (
  result: WorkersResult,
  workers: number,
  fewer: number,
  read: (sample: WorkersSample) => number | undefined,
): Figure | undefined => {
  const others = new Map(countedOf(result, fewer).map((sample) => [sample.round, read(sample)]));
  return summarise(
    countedOf(result, workers).flatMap((sample) => {
      const [own, other] = [read(sample), others.get(sample.round)];
      return own === undefined || other === undefined ? [] : [own / other];
    }),
  );
};

export const judgeWorkers = (result: WorkersResult, { counts }: WorkersPlan): Goal[] => {
  const [fewest = 1, most = 1] = [counts[0], counts.at(-1)];
  const ratio = ratioTo(result, most, fewest, ({ cpuUsPerRequest }) => cpuUsPerRequest)?.median;
  return [
    {
      text: `Predictions with PRESAGE_WORKERS=${most} use at most ${mostCpuRatio} times the processor time a request of ${fewest}`,
      measured: ratio === undefined ? "not measured" : `${ratio.toFixed(2)} times`,
      met: ratio === undefined ? undefined : ratio <= mostCpuRatio,
    },
  ];
};

export const writeWorkers = (result: WorkersResult, { counts, connections, rounds }: WorkersPlan): string => {
  const [fewest = 1] = counts;
  if (result.notMeasured !== undefined) return `\nNot measured: ${result.notMeasured}.\n`;
  const rows = counts.map((count) => {
    const show = (read: (sample: WorkersSample) => number | undefined, scale?: number) =>
      showFigure(summarise(countedOf(result, count).flatMap((sample) => read(sample) ?? [])), scale);
    const ratio = (read: (sample: WorkersSample) => number | undefined) =>
      count === fewest ? none : showFigure(ratioTo(result, count, fewest, read));
    return [
      String(count),
      show(({ requestsPerSecond }) => requestsPerSecond),
      ratio(({ requestsPerSecond }) => requestsPerSecond),
      show(({ cpuUsPerRequest }) => cpuUsPerRequest),
      ratio(({ cpuUsPerRequest }) => cpuUsPerRequest),
      show(({ p50Us }) => p50Us, 1 / 1000),
      show(({ p99Us }) => p99Us, 1 / 1000),
    ];
  });
  return `
\`POST /v1/predict\` over ${connections} connections, no delay at the upstream, PostgreSQL; ${rounds} rounds in turns. The processor time includes the
supervisor's. Upstream, wrk and PostgreSQL share the machine's cores, so more workers are faster only where there are more cores.

${table(["PRESAGE_WORKERS", "predictions/s", `to ${fewest}`, "processor time a prediction, µs", `to ${fewest}`, "p50, ms", "p99, ms"], rows)}
`;
};
