import type { Goal } from "../../report/goal.ts";
import type { ProcessesPlan, ProcessesResult } from "./measure-processes.ts";
import { cpuRatio, figureOf } from "./processes-figures.ts";

const mostCpuRatio = 1.2;
const mostLockShare = 0.05;

export const judgeProcesses = (result: ProcessesResult, { counts }: ProcessesPlan): Goal[] => {
  const [fewest = 1, most = 1] = [counts[0], counts.at(-1)];
  const ratio = cpuRatio(result, most, fewest)?.median;
  const share = figureOf(result, most, ({ lockShare }) => lockShare)?.median;
  return [
    {
      text: `Stored evaluations with ${most} processes on one PostgreSQL use at most ${mostCpuRatio} times the processor time a request of ${fewest}`,
      measured: ratio === undefined ? "not measured" : `${ratio.toFixed(2)} times`,
      met: ratio === undefined ? undefined : ratio <= mostCpuRatio,
    },
    {
      text: `With ${most} processes, active sessions are waiting for locks in less than ${100 * mostLockShare} % of the samples`,
      measured: share === undefined ? "not measured" : `${(100 * share).toFixed(1)} %`,
      met: share === undefined ? undefined : share < mostLockShare,
    },
  ];
};
