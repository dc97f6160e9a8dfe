import { mkdirSync, rmSync } from "node:fs";
import { type ExactnessArguments, readArguments, readExactnessArguments } from "./arguments.ts";
import { findDashboardProblems } from "./dashboard/run-dashboard.ts";
import { findEvaluationProblems } from "./evaluations/run-evaluations.ts";
import { installPortkey } from "./host/install-portkey.ts";
import { findWhatIsMissing } from "./host/require-tools.ts";
import { resultsFile, workDirectory } from "./paths.ts";
import { fullPlan, quickPlan } from "./plan.ts";
import { createProcessGroup } from "./processes.ts";
import { findReplicasProblems } from "./replicas/run-replicas.ts";
import { writeCache } from "./report/write-cache.ts";
import { writeDashboard } from "./report/write-dashboard.ts";
import { writeEpisodes } from "./report/write-episodes.ts";
import { writeRetention } from "./report/write-retention.ts";
import { writeEvaluations } from "./report/write-evaluations.ts";
import { writeExactness } from "./report/write-exactness.ts";
import { writeProcesses } from "./report/write-processes.ts";
import { writeReplicas } from "./report/write-replicas.ts";
import { writeGoalTable, writeReport } from "./report/write-report.ts";
import { writeRuns } from "./report/write-runs.ts";
import { replaceStatistics, writeStatistics } from "./report/write-statistics.ts";
import { writeWorkers } from "./report/write-workers.ts";
import { runBench } from "./run-bench.ts";
import { runExactness } from "./runs/exactness/run-exactness.ts";
import type { StatisticsPlan } from "./statistics/plan-statistics.ts";
import { runStatistics } from "./statistics/run-statistics.ts";
import { targetNames } from "./targets/target.ts";

const group = createProcessGroup();

/** Needs no server. Its figures do not depend on the machine, so they may replace those of an earlier run. */
const simulateAlone = async (plan: StatisticsPlan, quick: boolean): Promise<boolean> => {
  const section = writeStatistics(await runStatistics(plan), plan);
  process.stdout.write(section);
  if (!quick) {
    await Bun.write(resultsFile, replaceStatistics(await Bun.file(resultsFile).text(), section));
    process.stdout.write("\nWritten: the last section of bench/RESULTS.md\n");
  }
  return true;
};

/** Whether the server's figures are those that Python computes. They do not depend on the machine. */
const checkFigures = async (wanted: ExactnessArguments): Promise<boolean> => {
  rmSync(workDirectory, { recursive: true, force: true });
  const results = await runExactness(group, wanted);
  process.stdout.write(writeExactness(results));
  const agrees = results.every((one) => one.disagreements + one.by_command_line.length === 0);
  if (agrees) rmSync(workDirectory, { recursive: true, force: true });
  return agrees;
};

const bench = async (): Promise<boolean> => {
  const exactness = readExactnessArguments(process.argv.slice(2));
  if (exactness !== undefined) return checkFigures(exactness);
  const { quick, ...parts } = readArguments(process.argv.slice(2));
  const { targets, results: _, ...sections } = parts;
  const plan = quick ? quickPlan : fullPlan;
  const isAlone = targets.length === 0 && Object.values(sections).filter(Boolean).length === 1;
  if (isAlone && sections.statistics) return simulateAlone(plan.statistics, quick);
  const missing = findWhatIsMissing();
  if (missing.length > 0) throw new Error(missing.join("\n"));
  if (targets.includes("portkey")) await installPortkey();
  rmSync(workDirectory, { recursive: true, force: true });
  mkdirSync(workDirectory, { recursive: true });

  const result = await runBench(group, parts, plan);
  process.stdout.write(`\n${writeGoalTable(result)}\n`);
  // A report of a partial or a quick run must not replace a complete one.
  const isWhole = targets.length === targetNames.length && Object.values(sections).every(Boolean);
  if (!quick && isWhole) {
    await Bun.write(resultsFile, writeReport(result));
    process.stdout.write("\nWritten: bench/RESULTS.md\n");
  } else {
    process.stdout.write(
      writeEvaluations(result) +
        writeProcesses(result) +
        writeWorkers(result) +
        writeReplicas(result) +
        writeDashboard(result) +
        writeCache(result) +
        writeRuns(result) +
        writeEpisodes(result) +
        writeRetention(result) +
        writeStatistics(result.statistics, plan.statistics),
    );
  }
  rmSync(workDirectory, { recursive: true, force: true });
  const inFlightFailed = [...result.inFlight.values()].some(({ succeeded, sent }) => succeeded < sent);
  const evaluationsFailed = result.evaluations && findEvaluationProblems(result.evaluations).length > 0;
  const processesFailed = result.processes?.samples.some(({ problem }) => problem !== undefined);
  const workersFailed = result.workers?.samples.some(({ problem }) => problem !== undefined);
  const dashboardFailed = result.dashboard && findDashboardProblems(result.dashboard).length > 0;
  const replicasFailed = result.replicas && findReplicasProblems(result.replicas).length > 0;
  return (
    !inFlightFailed &&
    !evaluationsFailed &&
    !processesFailed &&
    !workersFailed &&
    !dashboardFailed &&
    !replicasFailed &&
    (result.cache ?? []).every(({ problem }) => problem === undefined) &&
    (result.runs?.live ?? []).every(({ problem }) => problem === undefined) &&
    result.samples.every(({ problem }) => problem === undefined)
  );
};

let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    interrupted = true;
    process.stderr.write(`${signal}: stopping\n`);
    void group.stopAll().then(() => process.exit(130));
  });
}

let clean = false;
try {
  clean = await bench();
} catch (error) {
  // After an interruption, the error only says that the current process was stopped.
  if (!interrupted) process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
} finally {
  await group.stopAll();
}
process.exit(clean ? 0 : 1);
