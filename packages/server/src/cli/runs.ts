import { writeFile } from "node:fs/promises";
import type { Run } from "@presage/contract";
import { describeFailures } from "@presage/contract/describe-trouble";
import { type Command, Option } from "commander";
import type { Config } from "../config/config.ts";
import { countOf, printable, printableJson } from "../platform/words.ts";
import { findRun, type PlaceOptions, withPlace } from "./connect.ts";
import { checkOutputFile } from "./files.ts";
import { protocols } from "./run-options.ts";
import { printComparison, printReport } from "./run-tables.ts";
import {
  type Column,
  CommandError,
  type Configure,
  collect,
  examples,
  json,
  onServer,
  printList,
} from "./terminal.ts";

const choice = (flags: string, description: string, choices: readonly string[]) =>
  new Option(flags, description).choices([...choices]);

/** `presage run`, `compare`, `report` and `runs`. */
export function addRunsCommands(program: Command, configure: Configure): void {
  addRunCommand(program, configure);
  program
    .command("compare <runs...>")
    .description("compare runs with the first one")
    .option("--json", "print the comparison as JSON")
    .option(...onServer)
    .addHelpText(
      "after",
      examples(
        "presage compare before after",
        "presage compare 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50 after --json",
      ),
    )
    .action(async (runs: string[], options) =>
      (await import("./runs.ts")).compareCommand(configure(), runs, options),
    );
  program
    .command("report <run>")
    .description("write the report of a run")
    .addOption(choice("--format <format>", "what to write", ["html", "md", "json"]).default("md"))
    .option("--out <path>", "file to write; by default standard output")
    .option(...onServer)
    .addHelpText(
      "after",
      examples(
        "presage report nightly --format html --out report.html",
        "presage report nightly --format md >> $GITHUB_STEP_SUMMARY",
      ),
    )
    .action(async (run: string, options) =>
      (await import("./runs.ts")).reportCommand(configure(), run, options),
    );
  addManagingCommands(program, configure);
}

function addRunCommand(program: Command, configure: Configure): void {
  program
    .command("run")
    .description("predict a dataset and judge the predictions")
    .option(
      "--dataset <name>",
      "a dataset by name or id, or a file of JSON lines, which is uploaded as a dataset named after it; the same lines give the same revision",
    )
    .option("--revision <number>", "revision of the dataset; by default the latest")
    .addOption(
      choice("--format <format>", "format of a file's lines; by default detected from the first", [
        ...["presage", "chat", "llm-sim", "predictions"],
      ]),
    )
    .option("--name <name>", "the run's name")
    .option("--model <name>", "model to request instead of the deployment's")
    .option("--deployment <name>", "deployment that predicts, if not the default")
    .addOption(choice("--baseline <name>", "predict without a model", ["no-change", "most-frequent"]))
    .option("--predictions <path>", "JSON lines of predictions made elsewhere, which are only evaluated")
    .addOption(
      choice(
        "--mode <mode>",
        "by default teacher-forced; in free-running, each step starts from the prediction for the step before",
        [...["teacher-forced", "free-running"]],
      ),
    )
    .option("--evaluator <name[=profile]>", "an evaluator to run; repeatable", collect)
    .addOption(
      choice(
        "--protocol <name>",
        "measure as a published script does: sets --format, --evaluator and --mode, unless they are given",
        Object.keys(protocols),
      ),
    )
    .option("--repeats <number>", "predictions per sample; by default 1")
    .option("--concurrency <number>", "maximum concurrent predictions; by default 16, beginning with 4")
    .option("--params <json>", "sampling parameters, as JSON")
    .option("--temperature <number>", "overrides temperature in --params")
    .option("--seed <number>", "overrides seed in --params; repeat r uses the seed plus r")
    .option("--max-tokens <number>", "overrides max_tokens in --params")
    .option("--tag <name=value>", "a tag of the run; repeatable", collect)
    .option(
      "--min-pass-rate <evaluator=share>",
      "exit with 2 if the pass rate of the evaluator is lower, with failures as not passed; repeatable",
      collect,
    )
    .option("--against <run>", "also compare with this finished run, given by id or name")
    .option(
      "--max-regression <points>",
      "exit with 2 if a mean score is lower than that of --against by more percentage points than this and p is under 0.05, or if more than 1 % of the samples have a verdict there only; with 3 if it is lower by more and the trajectories are too few to tell that from chance",
    )
    .option("--undecided <pass|fail>", "exit with 0 or 2 in place of 3")
    .option("--resume <run>", "finish this run, given by id or name, instead of making a new one")
    .option("--json", "print the report as JSON instead of a table")
    .option(...onServer)
    .addHelpText(
      "after",
      examples(
        "presage run --dataset transitions.jsonl --evaluator exact-match",
        "presage run --dataset kitchen --name nightly --mode free-running \\",
        "  --evaluator exact-match --evaluator state-change --repeats 3",
        "presage run --dataset kitchen --baseline most-frequent --evaluator exact-match",
        "presage run --dataset conversations.jsonl --protocol word2world",
        "presage run --dataset kitchen --evaluator exact-match \\",
        "  --min-pass-rate exact-match=0.8 --against nightly --max-regression 1.0",
        "presage run --resume nightly",
      ),
    )
    .action(async (options) => (await import("./run.ts")).runCommand(configure(), options));
}

const changes = [
  ["resume", "let a paused run, given by id or name, go on; a deployment that failed is tried again at once"],
  ["finish", "end a paused run, given by id or name; predictions that are missing count as failed"],
  ["cancel", "end a run, given by id or name; what it has done stays"],
] as const;

function addManagingCommands(program: Command, configure: Configure): void {
  const runs = program
    .command("runs")
    .description("list, show, resume, finish, cancel or delete runs")
    .addHelpText("after", examples("presage runs list", "presage runs show nightly"));
  runs
    .command("list")
    .description("list the runs, newest first")
    .option(...json)
    .option(...onServer)
    .addHelpText("after", examples("presage runs list", "presage runs list --json"))
    .action(async (options) => (await import("./runs.ts")).showRuns(configure(), options));
  runs
    .command("show <run>")
    .description("show a run, given by id or name, and its figures so far")
    .option("--json", "print the run as JSON")
    .option(...onServer)
    .addHelpText("after", examples("presage runs show nightly"))
    .action(async (run: string, options) => (await import("./runs.ts")).showRun(configure(), run, options));
  for (const [change, description] of changes)
    runs
      .command(`${change} <run>`)
      .description(description)
      .option(...onServer)
      .addHelpText("after", examples(`presage runs ${change} nightly`))
      .action(async (run: string, options) =>
        (await import("./runs.ts")).changeRunCommand(configure(), change, run, options),
      );
  runs
    .command("delete <run>")
    .description("delete a run, given by id or name, with its predictions; evaluation results stay")
    .option(...onServer)
    .addHelpText("after", examples("presage runs delete nightly"))
    .action(async (run: string, options) =>
      (await import("./runs.ts")).deleteRunCommand(configure(), run, options),
    );
}

/** Prints the runs, newest first. */
export async function showRuns(
  config: Config,
  { json, ...options }: PlaceOptions & { json?: boolean },
): Promise<void> {
  await withPlace(config, options, async ({ runs }) => {
    printList(await runs.list(), { columns: runColumns, json: json ? (run) => run : undefined });
  });
}

const runColumns: readonly Column<Run>[] = [
  { heading: "NAME", text: ({ name }) => printable(name), canWrap: true },
  { heading: "STATUS", text: ({ status }) => status },
  { heading: "DONE", text: ({ progress }) => `${progress.evaluated}/${progress.samples}`, align: "right" },
  { heading: "ID", text: ({ id }) => id },
  { heading: "TARGET", text: ({ target }) => printable(targetName(target)), canWrap: true },
  { heading: "CREATED", text: ({ created_at }) => created_at.slice(0, "2026-01-31".length) },
];

/** What predicts, in words. */
export function targetName(target: Run["target"]): string {
  if ("deployment" in target) return [target.deployment, target.model].filter(Boolean).join(", ");
  if ("baseline" in target) return target.baseline;
  return "predictions" in target ? "imported predictions" : "a client";
}

/** Prints a run and its figures so far. */
export async function showRun(
  config: Config,
  nameOrId: string,
  { json, ...options }: PlaceOptions & { json?: boolean },
): Promise<void> {
  await withPlace(config, options, async (place) => {
    const run = await findRun(place, nameOrId);
    if (json) {
      process.stdout.write(`${printableJson(run)}\n`);
      return;
    }
    const lines = describe(run);
    process.stdout.write(`${lines.map(printable).join("\n")}\n\n`);
    // A client's run has results, and no figures of its own.
    if (run.dataset_id !== null) printReport(await place.runs.report(run.id));
  });
}

function describe(run: Run): string[] {
  const { name, id, status, status_reason: reason, progress, target, mode, repeats, params } = run;
  const { evaluated, samples } = progress;
  return [
    name,
    id,
    `${status}${reason === null ? "" : `: ${reason}`}; ${evaluated} of ${countOf(samples, "prediction")}`,
    ...describeFailures(progress),
    `${targetName(target)}; ${mode}; ${countOf(repeats, "repeat")}`,
    ...(run.dataset_id === null ? [] : [`dataset ${run.dataset_id}, revision ${run.revision}`]),
    ...(params === null ? [] : [`params ${JSON.stringify(params)}`]),
  ];
}

const done = { cancel: "Cancelled", resume: "Resumed", finish: "Finished without what is missing:" };

/** Ends a run, or lets a paused one go on; what it has done stays. */
export async function changeRunCommand(
  config: Config,
  change: keyof typeof done,
  nameOrId: string,
  options: PlaceOptions,
): Promise<void> {
  await withPlace(config, options, async (place) => {
    const { id, name } = await findRun(place, nameOrId);
    await place.runs[change](id);
    process.stdout.write(`${done[change]} ${printable(name)}.\n`);
  });
}

/** Deletes a run with its predictions and verdicts. */
export async function deleteRunCommand(
  config: Config,
  nameOrId: string,
  options: PlaceOptions,
): Promise<void> {
  await withPlace(config, options, async (place) => {
    const { id, name } = await findRun(place, nameOrId);
    await place.runs.delete(id);
    process.stdout.write(`Deleted ${printable(name)}.\n`);
  });
}

/** Prints how runs differ from the first one. */
export async function compareCommand(
  config: Config,
  names: readonly string[],
  { json, ...options }: PlaceOptions & { json?: boolean },
): Promise<void> {
  if (names.length < 2) throw new CommandError("compare needs two or more runs");
  await withPlace(config, options, async (place) => {
    const ids: string[] = [];
    for (const name of names) ids.push((await findRun(place, name)).id);
    const comparison = await place.runs.compare(ids);
    if (json) process.stdout.write(`${printableJson(comparison)}\n`);
    else printComparison(comparison);
  });
}

interface ReportOptions extends PlaceOptions {
  format: "html" | "md" | "json";
  out?: string;
}

/** Writes a run's report into a file, or to standard output. */
export async function reportCommand(
  config: Config,
  nameOrId: string,
  { format, out, ...options }: ReportOptions,
): Promise<void> {
  if (out !== undefined) checkOutputFile(out);
  await withPlace(config, options, async (place) => {
    const { id } = await findRun(place, nameOrId);
    const text =
      format === "json"
        ? `${JSON.stringify(await place.runs.report(id), undefined, 2)}\n`
        : await place.runs.reportAs(id, format);
    if (out === undefined) process.stdout.write(text);
    else await writeFile(out, text);
  });
}
