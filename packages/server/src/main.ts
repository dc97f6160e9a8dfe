#!/usr/bin/env bun
import { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { addAuditCommand } from "./cli/audit.ts";
import { environmentHelp, warnOfUnknownVariables } from "./cli/config.ts";
import { addDatasetsCommands } from "./cli/datasets.ts";
import { addEvaluateCommand } from "./cli/evaluate.ts";
import { explainError } from "./cli/explain-error.ts";
import { addKeysCommands } from "./cli/keys.ts";
import { addPredictCommand } from "./cli/predict.ts";
import { refuseUnknownCommand } from "./cli/refuse-unknown-command.ts";
import { addRunsCommands } from "./cli/runs.ts";
import { bypassProxyForLoopback, settleRuntime } from "./cli/serve.ts";
import {
  closedPipeExitCode,
  endIfUnwritable,
  examples,
  isClosedPipe,
  json,
  printNotice,
} from "./cli/terminal.ts";
import { addUsersCommands } from "./cli/users.ts";
import { type Config, readConfig, unknownVariables } from "./config/config.ts";

bypassProxyForLoopback();
endIfUnwritable();

const helpWidth = process.stdout.columns ?? 80;

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
    const { serve } = await import("./cli/serve.ts");
    process.exit(await serve(readConfig(process.env), unknownVariables(process.env)));
  });

program
  .command("worker <start>", { hidden: true })
  .description("run one of the processes of a server; started by serve")
  .action(async (start: string) => {
    const { work } = await import("./cli/serve.ts");
    await work(readConfig(process.env), JSON.parse(start));
    process.exit();
  });

program
  .command("health", { hidden: true })
  .description("succeed if the server on this machine is ready")
  .action(async () => (await import("./cli/serve.ts")).checkHealth(readConfig(process.env)));

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
  .description("migrate the database schema")
  .addHelpText("after", examples("PRESAGE_DATABASE_URL=postgres://presage@db/presage presage migrate"))
  .action(async () => (await import("./cli/database.ts")).migrateDatabase(configure()));

program
  .command("backup <file>")
  .description("copy the SQLite database while servers run")
  .addHelpText("after", examples("presage backup /backups/presage.db"))
  .action(async (file: string) => (await import("./cli/database.ts")).backUp(configure(), file));

program
  .command("restore <file>")
  .description("restore the database from a backup")
  .option("--replace", "set aside an existing database")
  .addHelpText(
    "after",
    examples("presage restore /backups/presage.db", "presage restore --replace /backups/presage.db"),
  )
  .action(async (file: string, options) =>
    (await import("./cli/database.ts")).restore(configure(), file, options),
  );

program
  .command("export <file>")
  .summary("write an account's data as JSON lines")
  .description("write all of an account's data as JSON lines, while servers run")
  .option("--account <name>", "the account, if there are several")
  .addHelpText(
    "after",
    examples("presage export account.jsonl", "presage export --account kitchen-team kitchen.jsonl"),
  )
  .action(async (file: string, options) =>
    (await import("./cli/database.ts")).exportToFile(configure(), file, options),
  );

program
  .command("import <file>")
  .summary("store an exported account")
  .description("store an exported account, all of it or nothing, in an account without data")
  .option("--account <name>", "the account to store it in; by default one of the same name")
  .addHelpText(
    "after",
    examples("presage import account.jsonl", "presage import --account restored account.jsonl"),
  )
  .action(async (file: string, options) =>
    (await import("./cli/database.ts")).importFromFile(configure(), file, options),
  );

program
  .command("doctor")
  .description("check everything that the server needs")
  .option(...json)
  .addHelpText("after", examples("presage doctor", "presage doctor --json"))
  .action(async (options) => {
    const { doctor } = await import("./cli/doctor.ts");
    process.exitCode = await doctor(process.env, options);
  });

addKeysCommands(program, configure);
addUsersCommands(program, configure);
addAuditCommand(program, configure);
addDatasetsCommands(program, configure);
addRunsCommands(program, configure);

const results = program.command("results").description("repair evaluation results of the database");
results
  .command("mend-times")
  .description(
    "give results that a wrong clock dated in the future the times of their neighbours; servers may keep running",
  )
  .option("--dry-run", "only report which results are affected")
  .addHelpText("after", examples("presage results mend-times --dry-run", "presage results mend-times"))
  .action(async (options) => (await import("./cli/database.ts")).mendResultTimes(configure(), options));

program
  .command("sign-in")
  .description("print a one-time sign-in URL, in local mode")
  .option("--user <user>", "who signs in, by id or e-mail address; by default the owner")
  .addHelpText("after", examples("presage sign-in", "presage sign-in --user ada@example.org"))
  .action(async (options) => (await import("./cli/users.ts")).printSignInAddress(configure(), options));

addPredictCommand(program, configure);
addEvaluateCommand(program, configure);

try {
  refuseUnknownCommand(program, process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  if (isClosedPipe(error)) process.exit(closedPipeExitCode);
  printNotice(explainError(error));
  // Whatever the failed command left open must not keep the process alive.
  process.exit(1);
}
