import { join } from "node:path";
import { call, createDataset, createRun, finishRun, uploadPredictions } from "../../lib/api.ts";
import { type DatabaseName, startPostgres } from "../../lib/postgres.ts";
import { benchDirectory, type ProcessGroup, rootDirectory, workDirectory } from "../../lib/processes.ts";
import { type RunningPresage, startPresage } from "../../lib/targets.ts";
import { compareByCommandLine, findDifferences, runByCommandLine } from "./command-line.ts";
import { makeTransitions } from "./make-transitions.ts";

const madeTrajectories = 60;
const script = join(benchDirectory, "runs", "exactness", "check_figures.py");
const evaluators = [
  { evaluator: "exact-match" },
  { evaluator: "exact-match", profile_name: "system:word2world-exact" },
  { evaluator: "exact-match", profile_name: "system:mdlm-exact" },
  { evaluator: "state-change" },
  { evaluator: "token-f1" },
];

/** The evaluator whose lists of changed samples are compared. Its scores are fractions. */
const changedBy = "token-f1";

export interface ExactnessResult {
  readonly database: DatabaseName;
  /** The number of figures, and of predictions and verdicts, that are recomputed. */
  readonly compared: number;
  readonly largest_difference: number;
  readonly disagreements: number;
  readonly first_disagreements: readonly string[];
  readonly runs: number;
  readonly comparisons: number;
  readonly samples: number;
  /** Where a report or comparison of the command line differs from the API's; one sentence each. */
  readonly by_command_line: readonly string[];
}

interface Lines {
  readonly datasetId: string;
  readonly revision: number;
  /** The run's export. */
  readonly file: string;
  readonly lines: readonly SampleLine[];
}

interface SampleLine {
  readonly dataset_sample_id: string;
  readonly next_state: string;
}

/**
 * On each database, makes runs of a data set by the sandbox, the baselines and imported predictions, and has Python compute
 * everything that reports and comparisons say about them. `presage run` also makes those that predict.
 */
export const runExactness = async (
  group: ProcessGroup,
  { data, python }: { data: string | undefined; python: string },
): Promise<ExactnessResult[]> => {
  await requireLibraries(group, python);
  const text = data === undefined ? toLines(makeTransitions(madeTrajectories)) : await Bun.file(data).text();
  const postgres = await startPostgres(group, 1);
  const results = [];
  for (const database of ["SQLite", "PostgreSQL"] as const) {
    const url = postgres?.urls[0];
    if (database === "PostgreSQL" && url === undefined) continue;
    // Without an upstream the sandbox predicts.
    const sandboxOnly = { PRESAGE_UPSTREAM_URL: "", PRESAGE_UPSTREAM_MODEL: "" };
    const name = `exactness-${database.toLowerCase()}`;
    const ofDatabase = database === "SQLite" ? undefined : url;
    const presage = await startPresage(group, "", name, ofDatabase, sandboxOnly);
    results.push({ database, ...(await checkOn(group, presage, text, python)) });
    await group.stop(presage.process);
  }
  if (postgres !== undefined) await group.stop(postgres.process);
  return results;
};

const requireLibraries = async (group: ProcessGroup, python: string): Promise<void> => {
  const isThere = await group
    .runCommand({ argv: [python, "-c", "import numpy, scipy"] })
    .then(({ exitCode }) => exitCode === 0)
    .catch(() => false);
  if (!isThere)
    throw new Error(
      `${python} has no numpy or no scipy. Make an environment: python3 -m venv .venv && .venv/bin/pip install numpy scipy; then add --python .venv/bin/python`,
    );
};

const checkOn = async (
  group: ProcessGroup,
  presage: RunningPresage,
  text: string,
  python: string,
): Promise<Omit<ExactnessResult, "database">> => {
  const datasetId = await createDataset(presage, "exactness");
  const whole = await upload(presage, datasetId, text, 1);
  // Other samples in another order: every fourth is missing.
  const some = whole.lines.filter((_, index) => index % 4 !== 3).toReversed();
  const planned = plannedRuns(whole, await upload(presage, datasetId, toLines(some), 2));

  const runs = await makeRuns(presage, planned);
  const { comparisons, differing } = await compareRuns(group, presage, runs);
  const byCommandLine = [...differing];
  for (const { label, of, predictions, ...body } of planned) {
    const finished = runs.get(label);
    if (predictions !== undefined || finished === undefined) continue;
    const name = `${label}, by command line`;
    const wanted = { name, datasetId, revision: of.revision, evaluators, ...body };
    const said = await runByCommandLine(group, presage, wanted);
    byCommandLine.push(...findDifferences(label, await Bun.file(finished.report).json(), said));
    process.stdout.write(`exactness  ${name}: finished\n`);
  }

  const job = join(presage.directory, "job.json");
  await Bun.write(job, JSON.stringify({ runs: [...runs.values()], comparisons }));
  return {
    ...(JSON.parse(await group.outputOf(script, { argv: [python, script, job] })) as ComputedAgain),
    runs: runs.size,
    comparisons: comparisons.length,
    samples: whole.lines.length,
    by_command_line: byCommandLine,
  };
};

type ComputedAgain = Pick<
  ExactnessResult,
  "compared" | "largest_difference" | "disagreements" | "first_disagreements"
>;

/** The files with exports and answers, for Python. */
interface FinishedRun {
  readonly label: string;
  readonly id: string;
  readonly samples: string;
  readonly export: string;
  readonly report: string;
}

const makeRuns = async (
  presage: RunningPresage,
  planned: readonly PlannedRun[],
): Promise<ReadonlyMap<string, FinishedRun>> => {
  const runs = new Map<string, FinishedRun>();
  for (const { label, of, predictions, ...body } of planned) {
    const { datasetId, revision, file } = of;
    const id = await createRun(presage, { dataset_id: datasetId, revision, evaluators, ...body });
    if (predictions !== undefined) await uploadPredictions(presage, id, predictions);
    await finishRun(presage, id);
    const at = join(presage.directory, label);
    const finished = { label, id, samples: file, export: `${at}.jsonl`, report: `${at}.report.json` };
    await save(presage, `/v1/runs/${id}/export`, finished.export);
    runs.set(label, finished);
    process.stdout.write(`exactness  ${label}: finished\n`);
  }
  // After the last run, because the groups of samples are the same for all runs of a revision.
  for (const { id, report } of runs.values()) await save(presage, `/v1/runs/${id}/report`, report);
  return runs;
};

/** The answers to all planned comparisons, and where the command line differs. */
const compareRuns = async (
  group: ProcessGroup,
  presage: RunningPresage,
  runs: ReadonlyMap<string, FinishedRun>,
) => {
  const comparisons = [];
  const differing: string[] = [];
  for (const [number, labels] of plannedComparisons.entries()) {
    const ids = labels.map((label) => runs.get(label)?.id ?? label);
    const answer = join(presage.directory, `comparison-${number}.json`);
    await save(presage, `/v1/comparisons?runs=${ids.join(",")}`, answer);
    comparisons.push({ runs: labels, answer, changed: await saveChanged(presage, ids.slice(0, 2), number) });
    const said = await compareByCommandLine(group, presage, ids);
    differing.push(...findDifferences(`comparison ${number}`, await Bun.file(answer).json(), said));
  }
  return { comparisons, differing };
};

/** The samples that got worse and better between two runs, by one evaluator. */
const saveChanged = async (
  presage: RunningPresage,
  ids: readonly string[],
  number: number,
): Promise<Readonly<Record<string, string>>> => {
  const files: Record<string, string> = {};
  for (const direction of ["worse", "better"]) {
    const query = `runs=${ids.join(",")}&evaluator=${changedBy}&direction=${direction}&limit=1000`;
    const file = join(presage.directory, `comparison-${number}.${direction}.json`);
    await save(presage, `/v1/comparisons/samples?${query}`, file);
    files[direction] = file;
  }
  return files;
};

const save = async (presage: RunningPresage, path: string, file: string): Promise<void> => {
  await Bun.write(file, await call(presage, "GET", path));
};

const toLines = (objects: readonly object[]): string =>
  objects.map((object) => `${JSON.stringify(object)}\n`).join("");

const upload = async (
  presage: RunningPresage,
  datasetId: string,
  text: string,
  revision: number,
): Promise<Lines> => {
  await call(presage, "POST", `/v1/datasets/${datasetId}/revisions`, text);
  const file = join(presage.directory, `samples-${revision}.jsonl`);
  await save(presage, `/v1/datasets/${datasetId}/export?revision=${revision}`, file);
  const samples = (await Bun.file(file).text())
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as SampleLine);
  return { datasetId, revision, file, lines: samples };
};

interface PlannedRun {
  readonly label: string;
  readonly of: Lines;
  readonly target: Readonly<Record<string, string>>;
  readonly mode?: string;
  readonly repeats?: number;
  readonly predictions?: string;
}

const sandbox = { deployment: "sandbox" };
const noChange = { baseline: "no-change" };
const mostFrequent = { baseline: "most-frequent" };
const imported = { predictions: "imported" };

/** Runs that do not predict every sample come first: the groups of samples must be known nevertheless. */
const plannedRuns = (whole: Lines, part: Lines): PlannedRun[] => [
  { label: "imported-part", target: imported, repeats: 3, of: part, predictions: importedLines(part) },
  ...["free-running", "teacher-forced"].flatMap((mode) => [
    { label: `sandbox-${mode}`, target: sandbox, mode, of: whole },
    { label: `no-change-${mode}`, target: noChange, mode, of: whole },
    { label: `most-frequent-${mode}`, target: mostFrequent, mode, of: whole },
  ]),
  { label: "sandbox-free-running-repeated", target: sandbox, mode: "free-running", repeats: 2, of: whole },
  { label: "imported-repeated", target: imported, repeats: 3, of: whole, predictions: importedLines(whole) },
  { label: "no-change-part", target: noChange, of: part },
];

const plannedComparisons = [
  ["sandbox-teacher-forced", "no-change-teacher-forced", "most-frequent-teacher-forced", "imported-repeated"],
  ["sandbox-teacher-forced", "sandbox-free-running"],
  ["no-change-free-running", "most-frequent-free-running", "sandbox-free-running-repeated"],
  ["imported-repeated", "imported-part", "no-change-part"],
  ["no-change-part", "sandbox-teacher-forced"],
];

/** Three predictions for each sample: mostly right, sometimes wrong, failed or missing. */
const importedLines = ({ lines }: Lines): string =>
  toLines(
    lines.flatMap(({ dataset_sample_id, next_state }) =>
      [0, 1, 2].flatMap((repeat) => {
        const luck = Number(Bun.hash(`${dataset_sample_id}/${repeat}`) % 100n);
        if (luck < 4) return [];
        const half = next_state.slice(0, Math.ceil(next_state.length / 2));
        const prediction = luck < 8 ? null : luck < 40 ? half : next_state;
        return [{ dataset_sample_id, repeat, prediction }];
      }),
    ),
  );

export const writeExactness = (results: readonly ExactnessResult[]): string =>
  results.map((result) => `\n${writeLines(result).join("\n")}\n`).join("");

const writeLines = (result: ExactnessResult): string[] => {
  const { database, compared, disagreements } = result;
  const differing = result.by_command_line;
  return [
    `${database}: ${result.runs} runs and ${result.comparisons} comparisons of ${result.samples} samples: ${compared} values computed again, ${disagreements} differ.`,
    `Largest difference: ${result.largest_difference.toExponential(1)}`,
    `The command line's figures: ${differing.length} differ from the API's.`,
    ...[...result.first_disagreements, ...differing.slice(0, 20)].map((one) => `- ${one}`),
    ...(disagreements + differing.length > 0
      ? [`The files are in bench/.work/exactness-${database.toLowerCase()}.`]
      : []),
  ];
};

const dataSets = 200;
const tests = join(rootDirectory, "packages", "server", "test", "runs");

/**
 * Has Python draw runs with failed, ungraded and inapplicable verdicts and compute their reports and comparisons, and the server's
 * tests compare them on both databases. Returns the messages, including the last line of each failed test.
 */
export const compareRandomDataSets = async (
  group: ProcessGroup,
  python: string,
): Promise<{ agrees: boolean; text: string }> => {
  const fixture = join(tests, "reference-reports.fixture.py");
  const drawn = await group.outputOf("reference-reports.fixture.py", {
    argv: [python, fixture, String(dataSets)],
  });
  const file = join(workDirectory, "random-data-sets.jsonl");
  await Bun.write(file, drawn);
  const { stderr, exitCode } = await group.runCommand({
    argv: [process.execPath, "test", "--timeout", "120000", join(tests, "reference-reports.test.ts")],
    env: { PRESAGE_REFERENCE_REPORTS: file },
  });
  const lines = stderr.split("\n");
  const [passed, failed] = ["(pass)", "(fail)"].map((start) =>
    lines.filter((line) => line.startsWith(start)),
  );
  const summary = `${dataSets} random data sets on each database: ${passed?.length} are the same, ${failed?.length} differ.`;
  return {
    agrees: exitCode === 0,
    text: [summary, ...(failed ?? []).slice(0, 20)].map((line) => `${line}\n`).join(""),
  };
};
