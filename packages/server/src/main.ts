#!/usr/bin/env bun
import { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { addAuditCommand } from "./cli/audit/audit-command.ts";
import { addDatasetsCommands } from "./cli/datasets/datasets-commands.ts";
import { explainError } from "./cli/explain-error.ts";
import { environmentHelp } from "./cli/help/environment-help.ts";
import { examples } from "./cli/help/examples.ts";
import { refuseUnknownCommand } from "./cli/help/refuse-unknown-command.ts";
import { warnOfUnknownVariables } from "./cli/help/warn-of-unknown-variables.ts";
import { addKeysCommands } from "./cli/keys/keys-commands.ts";
import { addRunsCommands } from "./cli/runs/runs-commands.ts";
import { bypassProxyForLoopback, settleRuntime, settleRuntimeFor } from "./cli/settle-runtime.ts";
import { closedPipeExitCode, endIfUnwritable, isClosedPipe } from "./cli/terminal/closed-pipe.ts";
import { printNotice } from "./cli/terminal/print-notice.ts";
import { addUsersCommands } from "./cli/users/users-commands.ts";
import { type Config, readConfig, unknownVariables } from "./config/config.ts";

bypassProxyForLoopback();
endIfUnwritable();

const helpWidth = process.stdout.columns ?? 80;
const json = ["--json", "print JSON lines instead of a table"] as const;

/** The configuration of a command that does not log. */
function configure(): Config {
  warnOfUnknownVariables(process.env);
  return readConfig(process.env);
}

const program = new Command("presage")
  .description(
    "A server in front of a language model that simulates an environment: it predicts the next state.",
  )
  .configureHelp({ helpWidth })
  .version(packageJson.version)
  .addHelpText(
    "after",
    examples(
      "presage                             start the server on http://127.0.0.1:8080",
      'presage predict --state "The fridge is closed." --action "open fridge"',
      "presage evaluate --help             options and examples of one command",
      "presage help environment            every environment variable and its default",
    ),
  );

// Each command loads only its own code.
program
  .command("serve", { isDefault: true })
  .description("run the server (the default command)")
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    examples(
      "presage serve",
      "PRESAGE_UPSTREAM_URL=http://127.0.0.1:30000/v1 PRESAGE_PORT=8081 presage serve",
    ),
  )
  .action(async () => {
    settleRuntime();
    const { serve } = await import("./cli/server/serve.ts");
    process.exit(await serve(readConfig(process.env), unknownVariables(process.env)));
  });

program
  .command("worker <start>", { hidden: true })
  .description("run one of the processes of a server; started by serve")
  .action(async (start: string) => {
    const { work } = await import("./cli/server/work.ts");
    await work(readConfig(process.env), JSON.parse(start));
    process.exit();
  });

program
  .command("health", { hidden: true })
  .description("succeed if the server on this machine is ready")
  .action(async () => (await import("./cli/server/health.ts")).checkHealth(readConfig(process.env)));

program
  .command("config")
  .summary("show the effective configuration")
  .description("show the effective configuration, with secrets hidden")
  .option(...json)
  .addHelpText("after", examples("presage config", "presage config | grep PRESAGE_UPSTREAM"))
  .action(async (options) => (await import("./cli/config.ts")).showConfig(process.env, options));

program
  .command("environment", { hidden: true })
  .description("list every environment variable")
  .configureHelp({ formatHelp: () => environmentHelp(helpWidth) })
  .action(() => {
    process.stdout.write(environmentHelp(helpWidth));
  });

program
  .command("migrate")
  .description("bring the database schema up to date")
  .addHelpText("after", examples("PRESAGE_DATABASE_URL=postgres://presage@db/presage presage migrate"))
  .action(async () => (await import("./cli/migrate.ts")).migrateDatabase(configure()));

program
  .command("backup <file>")
  .description("copy the SQLite database while servers run")
  .addHelpText("after", examples("presage backup /backups/presage.db"))
  .action(async (file: string) => (await import("./cli/backup/backup.ts")).backUp(configure(), file));

program
  .command("restore <file>")
  .description("put a backup in the place of the database")
  .option("--replace", "set aside the database that is there")
  .addHelpText(
    "after",
    examples("presage restore /backups/presage.db", "presage restore --replace /backups/presage.db"),
  )
  .action(async (file: string, options) =>
    (await import("./cli/backup/restore.ts")).restore(configure(), file, options),
  );

program
  .command("export <file>")
  .summary("write an account's data as JSON lines")
  .description("write everything of an account as JSON lines, while servers run")
  .option("--account <name>", "the account, if there are several")
  .addHelpText(
    "after",
    examples("presage export account.jsonl", "presage export --account kitchen-team kitchen.jsonl"),
  )
  .action(async (file: string, options) =>
    (await import("./cli/account-data.ts")).exportToFile(configure(), file, options),
  );

program
  .command("import <file>")
  .summary("store an exported account")
  .description("store an exported account, all of it or nothing, in an account without data")
  .option("--account <name>", "the account that gets it; by default one of the same name")
  .addHelpText(
    "after",
    examples("presage import account.jsonl", "presage import --account restored account.jsonl"),
  )
  .action(async (file: string, options) =>
    (await import("./cli/account-data.ts")).importFromFile(configure(), file, options),
  );

program
  .command("doctor")
  .description("check everything that the server needs")
  .option(...json)
  .addHelpText("after", examples("presage doctor", "presage doctor --json"))
  .action(async (options) => {
    const { doctor } = await import("./cli/doctor/doctor.ts");
    process.exitCode = await doctor(process.env, options);
  });

addKeysCommands(program, configure, json);
addUsersCommands(program, configure, json);
addAuditCommand(program, configure, json);
addDatasetsCommands(program, configure, json);
addRunsCommands(program, configure, json);

const results = program.command("results").description("repair evaluation results of the database");
results
  .command("mend-times")
  .description(
    "give results that a wrong clock dated in the future the times of their neighbours; servers may keep running",
  )
  .option("--dry-run", "only report which results are affected")
  .addHelpText("after", examples("presage results mend-times --dry-run", "presage results mend-times"))
  .action(async (options) => (await import("./cli/results.ts")).mendResultTimes(configure(), options));

program
  .command("sign-in")
  .description("print a one-time sign-in URL, in local mode")
  .option("--user <user>", "who signs in, by id or e-mail address; by default the owner")
  .addHelpText("after", examples("presage sign-in", "presage sign-in --user ada@example.org"))
  .action(async (options) => (await import("./cli/sign-in.ts")).printSignInAddress(configure(), options));

program
  .command("predict")
  .description("predict one next state, or one for each line of a file")
  .option("--state <text>", "the state before the action")
  .option("--action <text>", "the agent's action")
  .option("--context <json>", "the five context fields, as JSON")
  .option("--params <json>", "sampling parameters, as JSON")
  .option(
    "--file <path>",
    "transitions as JSON lines with interaction and optionally context, params and next_state",
  )
  .option(
    "--out <path>",
    "file for the predictions, as JSON lines; a second run resumes where the last one stopped; by default standard output, which must not be a terminal",
  )
  .option("--json", "with --file: write JSON lines to standard output, also into a terminal")
  .option("--keep-context", "also write each line's context, which judge evaluators need")
  .option("--concurrency <number>", "maximum concurrent predictions", "32")
  .option(
    "--server <url>",
    "call this Presage with the API key in PRESAGE_API_KEY instead of the configured upstream; only its predictions count in Usage",
  )
  .addHelpText(
    "after",
    examples(
      'presage predict --state "The fridge is closed." --action "open fridge"',
      "presage predict --file transitions.jsonl --out predictions.jsonl",
      "presage predict --file transitions.jsonl | jq .prediction.response.content",
      "PRESAGE_API_KEY=psg_... presage predict --file transitions.jsonl \\",
      "  --out predictions.jsonl --server http://127.0.0.1:8080",
    ),
  )
  .action(async (options) => {
    settleRuntimeFor(options.concurrency);
    const { predictCommand } = await import("./cli/predict/predict-command.ts");
    await predictCommand(configure(), options);
  });

const collect = (value: string, earlier: string[] = []) => [...earlier, value];
program
  .command("evaluate")
  .description("evaluate each line of a file, store the results")
  .requiredOption(
    "--file <path>",
    "JSON lines with evaluated_model_output and whatever the evaluators need, or the output of presage predict --file; trajectory_id and step of a line become tags",
  )
  .requiredOption("--evaluator <name[=profile]>", "an evaluator to run; repeatable", collect)
  .option(
    "--out <path>",
    "file for the outcomes, as JSON lines; a second run resumes where the last one stopped; by default standard output, unless it is a terminal",
  )
  .option("--json", "write JSON lines to standard output, also into a terminal")
  .option("--app <name>", "app that the results belong to", "default")
  .option("--tag <name=value>", "a tag for all results; repeatable", collect)
  .option("--dataset <id>", "dataset that the lines are from")
  .option("--model <name>", "model whose outputs are evaluated")
  .option("--run-id <id>", "run that the results belong to; by default the one in --out, or a new one")
  .option("--min-pass-rate <share>", "from 0 to 1: exit with 2 if the pass rate of an evaluator is lower")
  .option("--concurrency <number>", "maximum concurrent lines", "32")
  .option(
    "--server <url>",
    "evaluate on this Presage with the API key in PRESAGE_API_KEY; it stores the results",
  )
  .addHelpText(
    "after",
    examples(
      "presage evaluate --file predictions.jsonl --evaluator exact-match",
      "presage evaluate --file predictions.jsonl \\",
      "  --evaluator exact-match --evaluator judge=system:is-concise \\",
      "  --dataset sciworld --model world-model-1 --tag temperature=0",
      "presage evaluate --file predictions.jsonl --evaluator state-change \\",
      "  --min-pass-rate 0.8 --out outcomes.jsonl",
    ),
  )
  .action(async (options) => {
    settleRuntimeFor(options.concurrency);
    const { evaluateCommand } = await import("./cli/evaluate/evaluate-command.ts");
    await evaluateCommand(configure(), options);
  });

try {
  refuseUnknownCommand(program, process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  if (isClosedPipe(error)) process.exit(closedPipeExitCode);
  printNotice(explainError(error));
  // Whatever the failed command left open must not keep the process alive.
  process.exit(1);
}
