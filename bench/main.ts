import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  type ExactnessArguments,
  type PartName,
  partNames,
  parts,
  readArguments,
  readExactnessArguments,
} from "./arguments.ts";
import { describeMachine, findWhatIsMissing } from "./lib/machine.ts";
import { type BenchChoices, replaceSection, writeSection } from "./lib/part.ts";
import { createProcessGroup, resultsFile, workDirectory } from "./lib/processes.ts";
import { targetNames } from "./lib/targets.ts";
import { startUpstream, type Upstream } from "./lib/upstream.ts";
import { fullRetentionPlan } from "./retention/retention.ts";
import { compareRandomDataSets, runExactness, writeExactness } from "./runs/exactness/exactness.ts";

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
  { quick, database, targets, results = Number.POSITIVE_INFINITY }: BenchChoices,
): boolean =>
  quick ||
  database !== undefined ||
  (name === "predictions" && targets.length < targetNames.length) ||
  (name === "retention" && results < fullRetentionPlan.results);

/** Parts that need none of the programs that others are measured with. */
const alone = new Set<PartName>(["statistics", "imports", "uploads", "questions"]);

const bench = async (): Promise<boolean> => {
  const exactness = readExactnessArguments(process.argv.slice(2));
  if (exactness !== undefined) return checkFigures(exactness);
  const { parts: names, ...choices } = readArguments(process.argv.slice(2));
  const missing = names.every((name) => alone.has(name)) ? [] : findWhatIsMissing();
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
