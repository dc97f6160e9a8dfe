import { type Goal, GoalRequest } from "@presage/contract";
import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { printable } from "../platform/words.ts";
import { calibrationQuery } from "./calibrate.ts";
import { CommandError, examples, json, onServer } from "./command.ts";
import { configure } from "./config.ts";
import type { ConnectionOptions } from "./connect.ts";
import { percent } from "./evaluate/evaluate-line.ts";
import { nameOf } from "./gate.ts";
import { withConnection } from "./open-connection.ts";
import { readNumber } from "./run-options.ts";
import { type Column, printList } from "./terminal.ts";

/** `presage goals`. */
export function addGoalsCommands(program: Command): void {
  const goals = program
    .command("goals")
    .summary("list, set or remove what runs are to reach")
    .description("list, set or remove the pass rates that runs are to reach, by the name of the runs")
    .addHelpText(
      "after",
      examples("presage goals list", "presage goals set nightly --evaluator exact-match --pass-rate 0.8"),
    );
  goals
    .command("list")
    .description("list the goals, the latest first")
    .option(...json)
    .option(...onServer)
    .addHelpText("after", examples("presage goals list", "presage goals list --json"))
    .action((options) => listGoals(configure(), options));
  goals
    .command("set <run>")
    .description("set the pass rate that all runs of a name are to reach, those there are and those to come")
    .requiredOption("--evaluator <name[=profile]>", "the evaluator whose pass rate is meant")
    .requiredOption("--pass-rate <share>", "the pass rate, from 0 to 1")
    .option(...onServer)
    .addHelpText("after", examples("presage goals set nightly --evaluator exact-match --pass-rate 0.8"))
    .action((name: string, options) => setGoal(configure(), name, options));
  goals
    .command("remove <run>")
    .description("remove the goal of the runs of a name")
    .option(...onServer)
    .addHelpText("after", examples("presage goals remove nightly"))
    .action((name: string, options) => removeGoal(configure(), name, options));
}

async function listGoals(config: Config, options: ConnectionOptions & { json?: boolean }): Promise<void> {
  await withConnection(config, options, async ({ call }) => {
    const rows = await call(({ goals }) => goals.list());
    if (rows.length === 0 && !options.json) process.stdout.write("There is no goal.\n");
    else printList(rows, { columns, json: options.json ? (goal) => goal : undefined });
  });
}

const columns: readonly Column<Goal>[] = [
  { heading: "RUNS NAMED", text: ({ run_name }) => printable(run_name), canWrap: true },
  { heading: "EVALUATOR", text: nameOf, canWrap: true },
  { heading: "PASS RATE", text: ({ pass_rate }) => percent(pass_rate), align: "right" },
  { heading: "SET", text: ({ set_at }) => set_at.slice(0, "2026-01-31".length) },
];

interface SetOptions extends ConnectionOptions {
  evaluator: string;
  passRate: string;
}

async function setGoal(
  config: Config,
  name: string,
  { evaluator, passRate, ...options }: SetOptions,
): Promise<void> {
  const wanted = { ...calibrationQuery(evaluator), pass_rate: readNumber("--pass-rate", passRate) };
  const goal = GoalRequest.safeParse(wanted);
  if (!GoalRequest.shape.pass_rate.safeParse(wanted.pass_rate).success)
    throw new CommandError("--pass-rate takes a share, from 0 to 1");
  if (!goal.success) throw new CommandError("--evaluator takes NAME or NAME=PROFILE");
  await withConnection(config, options, async ({ call }) => {
    const set = await call(({ goals }) => goals.set(name, goal.data));
    process.stdout.write(
      `Runs named ${printable(set.run_name)} are to pass ${percent(set.pass_rate)} by ${nameOf(set)}.\n`,
    );
  });
}

async function removeGoal(config: Config, name: string, options: ConnectionOptions): Promise<void> {
  await withConnection(config, options, async ({ call }) => {
    await call(({ goals }) => goals.remove(name));
    process.stdout.write("Removed.\n");
  });
}
