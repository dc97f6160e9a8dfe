import { type Goal, GoalRequest, type Run } from "@presage/contract";
import { describeFailures, describeTarget } from "@presage/contract/describe-runs";
import type { Command } from "commander";
import { countOf, printable, printableJson } from "../platform/words.ts";
import { CommandError, choice, examples, json, onServer } from "./command.ts";
import { configure } from "./config.ts";
import { type Connection, type ConnectionOptions, findRun } from "./connect.ts";
import { percent } from "./evaluate/evaluate-line.ts";
import { evaluatorNamed } from "./evaluate/evaluators.ts";
import { checkOutputFile } from "./files.ts";
import { nameOf } from "./gate.ts";
import { onConnection, withConnection } from "./open-connection.ts";
import { printAddress } from "./run.ts";
import { readNumber } from "./run-options.ts";
import { printComparison, printReport } from "./run-tables.ts";
import { atRight, type Column, dayOf, printJsonOr, printList } from "./terminal.ts";
import { addRunExport, writeOutput } from "./traces/export.ts";

/** Verbs, what they do, and how the run is described afterwards. */
const changes = [
  [
    "resume",
    "resume a paused run, given by id or name; a deployment that failed is tried again at once",
    "Resumed",
  ],
  [
    "finish",
    "end a paused run, given by id or name; missing predictions count as failed",
    "Finished without what is missing:",
  ],
  ["cancel", "end a run, given by id or name; what it has done is kept", "Cancelled"],
  ["delete", "delete a run, given by id or name, with its predictions; evaluation results stay", "Deleted"],
] as const;

/** `presage compare`, `report` and `runs`. */
export function addRunsCommands(program: Command): void {
  program
    .command("compare <runs...>")
    .description("compare runs with the first one")
    .option("--json", "print the comparison as JSON")
    .addOption(choice("--format <format>", "write a report instead of tables", ["html", "md"]))
    .option("--out <path>", "file to write; by default standard output")
    .option(...onServer)
    .addHelpText(
      ...examples(
        "presage compare before after",
        "presage compare 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50 after --json",
        "presage compare before after --format html --out comparison.html",
      ),
    )
    .action(compareCommand);
  program
    .command("report <run>")
    .description("write the report of a run")
    .addOption(choice("--format <format>", "what to write", ["html", "md", "json"]).default("md"))
    .option("--out <path>", "file to write; by default standard output")
    .option(...onServer)
    .addHelpText(
      ...examples(
        "presage report nightly --format html --out report.html",
        "presage report nightly --format md >> $GITHUB_STEP_SUMMARY",
      ),
    )
    .action(reportCommand);
  addManagingCommands(program);
}

function addManagingCommands(program: Command): void {
  const runs = program
    .command("runs")
    .description("list, show, resume, finish, cancel or delete runs")
    .addHelpText(...examples("presage runs list", "presage runs show nightly"));
  addRunExport(runs);
  runs
    .command("list")
    .description("list the runs, newest first")
    .option(...json)
    .option(...onServer)
    .addHelpText(...examples("presage runs list", "presage runs list --json"))
    .action(
      onConnection(async ({ call }, { json }: { json?: boolean }) =>
        printList(await call((client) => client.runs.list()), { columns: runColumns, json }),
      ),
    );
  runs
    .command("show <run>")
    .description("show a run, given by id or name, and its figures so far")
    .option("--json", "print the run as JSON")
    .option(...onServer)
    .addHelpText(...examples("presage runs show nightly"))
    .action(onConnection(showRun));
  for (const [change, description, done] of changes)
    runs
      .command(`${change} <run>`)
      .description(description)
      .option(...onServer)
      .addHelpText(...examples(`presage runs ${change} nightly`))
      .action(
        onConnection(async (connection, nameOrId: string) => {
          const { id, name } = await findRun(connection, nameOrId);
          await connection.call(async (client) => await client.runs[change](id));
          process.stdout.write(`${done} ${printable(name)}.\n`);
        }),
      );
}

export function addGoalsCommands(program: Command): void {
  const goals = program
    .command("goals")
    .summary("list, set or remove goals that runs should reach")
    .description("list, set or remove the pass rates that runs of one name should reach")
    .addHelpText(
      ...examples("presage goals list", "presage goals set nightly --evaluator exact-match --pass-rate 0.8"),
    );
  goals
    .command("list")
    .description("list the goals, the latest first")
    .option(...json)
    .option(...onServer)
    .addHelpText(...examples("presage goals list", "presage goals list --json"))
    .action(
      onConnection(async ({ call }, { json }: { json?: boolean }) => {
        const rows = await call((client) => client.goals.list());
        if (rows.length === 0 && !json) process.stdout.write("There is no goal.\n");
        else printList(rows, { columns: goalColumns, json });
      }),
    );
  goals
    .command("set <run>")
    .description("set the pass rate that all runs of a name should reach, existing and future")
    .requiredOption("--evaluator <name[=profile]>", "the evaluator whose pass rate counts")
    .requiredOption("--pass-rate <share>", "the pass rate, from 0 to 1")
    .option(...onServer)
    .addHelpText(...examples("presage goals set nightly --evaluator exact-match --pass-rate 0.8"))
    .action(setGoal);
  goals
    .command("remove <run>")
    .description("remove the goal of the runs of a name")
    .option(...onServer)
    .addHelpText(...examples("presage goals remove nightly"))
    .action(
      onConnection(async ({ call }, name: string) => {
        await call((client) => client.goals.remove(name));
        process.stdout.write("Removed.\n");
      }),
    );
}

const runColumns: readonly Column<Run>[] = [
  { heading: "NAME", text: ({ name }) => printable(name), canWrap: true },
  { heading: "STATUS", text: ({ status }) => status },
  atRight("DONE", ({ progress }) => `${progress.evaluated}/${progress.samples}`),
  { heading: "ID", text: ({ id }) => id },
  { heading: "TARGET", text: ({ target }) => printable(describeTarget(target)), canWrap: true },
  { heading: "CREATED", text: ({ created_at }) => dayOf(created_at) },
];

const goalColumns: readonly Column<Goal>[] = [
  { heading: "RUNS NAMED", text: ({ run_name }) => printable(run_name), canWrap: true },
  { heading: "EVALUATOR", text: nameOf, canWrap: true },
  atRight("PASS RATE", ({ pass_rate }) => percent(pass_rate)),
  { heading: "SET", text: ({ set_at }) => dayOf(set_at) },
];

/** Prints a run and its figures so far. */
async function showRun(connection: Connection, nameOrId: string, { json }: { json?: boolean }) {
  const run = await findRun(connection, nameOrId);
  if (json) {
    process.stdout.write(`${printableJson(run)}\n`);
    return;
  }
  process.stdout.write(`${describe(run).map(printable).join("\n")}\n\n`);
  // A client's run has results, but no figures of its own.
  if (run.dataset_id !== null) printReport(await connection.call(({ runs }) => runs.report(run.id)));
  await printAddress(connection, `/runs/${run.id}`);
}

function describe(run: Run): string[] {
  const { name, id, status, status_reason: reason, progress, target, mode, repeats, params } = run;
  const { evaluated, samples } = progress;
  return [
    name,
    id,
    `${status}${reason === null ? "" : `: ${reason}`}; ${evaluated} of ${countOf(samples, "prediction")}`,
    ...describeFailures(progress),
    `${describeTarget(target)}; ${mode}; ${countOf(repeats, "repeat")}`,
    ...(run.dataset_id === null ? [] : [`dataset ${run.dataset_id}, revision ${run.revision}`]),
    ...(params === null ? [] : [`params ${JSON.stringify(params)}`]),
  ];
}

interface CompareOptions extends ConnectionOptions {
  json?: boolean;
  format?: "html" | "md";
  out?: string;
}

/** Prints how runs differ from the first one, or writes it as a report. */
async function compareCommand(names: readonly string[], { json, format, out, ...options }: CompareOptions) {
  if (names.length < 2) throw new CommandError("compare needs two or more runs");
  if (out !== undefined && format === undefined) throw new CommandError("--out needs --format html or md");
  if (json && format !== undefined) throw new CommandError("--json cannot be combined with --format");
  if (out !== undefined) checkOutputFile(out, { mayBePipe: true });
  await withConnection(configure(), options, async (connection) => {
    const ids: string[] = [];
    for (const name of names) ids.push((await findRun(connection, name)).id);
    if (new Set(ids).size < ids.length) throw new CommandError("compare needs runs that are not the same");
    if (format !== undefined)
      return await write(await connection.call(({ comparisons }) => comparisons.getAs(ids, format)), out);
    const comparison = await connection.call(({ comparisons }) => comparisons.get(ids));
    printJsonOr(json, comparison, printComparison);
    await printAddress(connection, `/compare?runs=${ids.join(",")}`);
  });
}

/** Writes a text into a file, or to standard output. */
async function write(text: string, out: string | undefined): Promise<void> {
  if (out === undefined) process.stdout.write(text);
  else await writeOutput(out, [text]);
}

interface ReportOptions extends ConnectionOptions {
  format: "html" | "md" | "json";
  out?: string;
}

/** Writes a run's report into a file, or to standard output. */
async function reportCommand(nameOrId: string, { format, out, ...options }: ReportOptions): Promise<void> {
  if (out !== undefined) checkOutputFile(out, { mayBePipe: true });
  await withConnection(configure(), options, async (connection) => {
    const { id } = await findRun(connection, nameOrId);
    const text =
      format === "json"
        ? `${printableJson(await connection.call(({ runs }) => runs.report(id)), 2)}\n`
        : await connection.call(({ runs }) => runs.reportAs(id, format));
    await write(text, out);
    await printAddress(connection, `/runs/${id}`);
  });
}

interface GoalOptions extends ConnectionOptions {
  evaluator: string;
  passRate: string;
}

async function setGoal(name: string, { evaluator, passRate, ...options }: GoalOptions): Promise<void> {
  const wanted = { ...evaluatorNamed(evaluator), pass_rate: readNumber("--pass-rate", passRate) };
  const goal = GoalRequest.safeParse(wanted);
  if (!GoalRequest.shape.pass_rate.safeParse(wanted.pass_rate).success)
    throw new CommandError("--pass-rate takes a share, from 0 to 1");
  if (!goal.success) throw new CommandError("--evaluator takes NAME or NAME=PROFILE");
  await withConnection(configure(), options, async ({ call }) => {
    const set = await call(({ goals }) => goals.set(name, goal.data));
    process.stdout.write(
      `Runs named ${printable(set.run_name)} are to pass ${percent(set.pass_rate)} by ${nameOf(set)}.\n`,
    );
  });
}
