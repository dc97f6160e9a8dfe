import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  type BenchArguments,
  type ExactnessArguments,
  readArguments,
  readExactnessArguments,
} from "./arguments.ts";
import { describeMachine } from "./host/describe-machine.ts";
import { findWhatIsMissing } from "./host/require-tools.ts";
import { type PartName, partNames, parts } from "./parts.ts";
import { resultsFile, workDirectory } from "./paths.ts";
import { createProcessGroup } from "./processes.ts";
import { replaceSection, writeSection } from "./report/results-file.ts";
import { fullRetentionPlan } from "./retention/plan-retention.ts";
import { compareRandomDataSets } from "./runs/exactness/random-data-sets.ts";
import { runExactness } from "./runs/exactness/run-exactness.ts";
import { writeExactness } from "./runs/exactness/write-exactness.ts";
import { startUpstream, type Upstream } from "./targets/start-upstream.ts";
import { targetNames } from "./targets/target.ts";

const group = createProcessGroup();

/** Whether the server's figures are those that Python computes. They do not depend on the machine. */
const checkFigures = async (wanted: ExactnessArguments): Promise<boolean> => {
  rmSync(workDirectory, { recursive: true, force: true });
  const results = await runExactness(group, wanted);
  process.stdout.write(writeExactness(results));
  const random = await compareRandomDataSets(group, wanted.python);
  process.stdout.write(random.text);
  const agrees =
    random.agrees && results.every((one) => one.disagreements + one.by_command_line.length === 0);
  if (agrees) rmSync(workDirectory, { recursive: true, force: true });
  return agrees;
};

/** A quick run, or one without all targets or engines or of fewer results than planned, must not replace a whole one. */
const isPartial = (
  name: PartName,
  { quick, database, targets, results = Number.POSITIVE_INFINITY }: Omit<BenchArguments, "parts">,
): boolean =>
  quick ||
  database !== undefined ||
  (name === "predictions" && targets.length < targetNames.length) ||
  (name === "retention" && results < fullRetentionPlan.results);

const bench = async (): Promise<boolean> => {
  const exactness = readExactnessArguments(process.argv.slice(2));
  if (exactness !== undefined) return checkFigures(exactness);
  const { parts: names, ...choices } = readArguments(process.argv.slice(2));
  const missing = names.every((name) => name === "statistics") ? [] : findWhatIsMissing();
  if (missing.length > 0) throw new Error(missing.join("\n"));
  rmSync(workDirectory, { recursive: true, force: true });
  mkdirSync(workDirectory, { recursive: true });

  let started: Promise<Upstream> | undefined;
  const upstream = (): Promise<Upstream> => {
    started ??= startUpstream(group, join(workDirectory, "upstream"));
    return started;
  };
  let isClean = true;
  for (const name of names) {
    const machine = await describeMachine();
    const report = await parts[name].measure({ group, upstream, ...choices });
    const section = writeSection(name, parts[name].title, report, machine);
    process.stdout.write(`\n${section}\n`);
    isClean &&= report.problems.length === 0;
    if (isPartial(name, choices)) continue;
    await Bun.write(
      resultsFile,
      replaceSection(await Bun.file(resultsFile).text(), partNames, name, section),
    );
    process.stdout.write(`Written: the section of ${name} in bench/RESULTS.md\n`);
  }
  rmSync(workDirectory, { recursive: true, force: true });
  return isClean;
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
