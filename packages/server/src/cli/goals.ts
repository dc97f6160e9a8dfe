import { type Goal, GoalRequest } from "@presage/contract";
import type { Command } from "commander";
import { printable } from "../platform/words.ts";
import { CommandError, examples, json, onServer } from "./command.ts";
import { configure } from "./config.ts";
import type { ConnectionOptions } from "./connect.ts";
import { percent } from "./evaluate/evaluate-line.ts";
import { evaluatorNamed } from "./evaluate/evaluators.ts";
import { nameOf } from "./gate.ts";
import { onConnection, withConnection } from "./open-connection.ts";
import { readNumber } from "./run-options.ts";
import { atRight, type Column, dayOf, printList } from "./terminal.ts";

export function addGoalsCommands(program: Command): void {
  const goals = program
    .command("goals")
    .summary("list, set or remove what runs are to reach")
    .description("list, set or remove the pass rates that runs are to reach, by the name of the runs")
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
        else printList(rows, { columns, json });
      }),
    );
  goals
    .command("set <run>")
    .description("set the pass rate that all runs of a name are to reach, those there are and those to come")
    .requiredOption("--evaluator <name[=profile]>", "the evaluator whose pass rate is meant")
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

const columns: readonly Column<Goal>[] = [
  { heading: "RUNS NAMED", text: ({ run_name }) => printable(run_name), canWrap: true },
  { heading: "EVALUATOR", text: nameOf, canWrap: true },
  atRight("PASS RATE", ({ pass_rate }) => percent(pass_rate)),
  { heading: "SET", text: ({ set_at }) => dayOf(set_at) },
];

interface SetOptions extends ConnectionOptions {
  evaluator: string;
  passRate: string;
}

async function setGoal(name: string, { evaluator, passRate, ...options }: SetOptions): Promise<void> {
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
