#!/usr/bin/env bun
import { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { CommandError } from "./cli/command-error.ts";
import { environmentHelp } from "./cli/environment-help.ts";
import { explainError } from "./cli/explain-error.ts";
import { bypassProxyForLoopback, settleRuntime } from "./cli/settle-runtime.ts";
import { readConfig, unknownVariables } from "./config.ts";

bypassProxyForLoopback();

const helpWidth = process.stdout.columns ?? 100;
const program = new Command("presage")
  .description(
    "A server in front of a language model that simulates an environment: it predicts the next state.",
  )
  .configureHelp({ helpWidth })
  .version(packageJson.version)
  .addHelpText("after", () => `\n${environmentHelp(helpWidth)}`);

// Each command loads only its own code.
program
  .command("serve", { isDefault: true })
  .description("run the server (the default command)")
  .allowExcessArguments(false)
  .action(async () => {
    settleRuntime();
    const { serve } = await import("./cli/serve.ts");
    await serve(readConfig(process.env), unknownVariables(process.env));
    process.exit();
  });

program
  .command("config")
  .description("show the effective configuration, with secrets hidden")
  .action(async () => (await import("./cli/config.ts")).showConfig(process.env));

program
  .command("migrate")
  .description("bring the database schema up to date")
  .action(async () => (await import("./cli/migrate.ts")).migrateDatabase(readConfig(process.env)));

const keys = program
  .command("keys")
  .description("create, list or revoke the owner's API keys in the configured database");
keys
  .command("create")
  .description("create a key and print it once")
  .requiredOption("--name <name>", "what the key is for")
  .option("--expires-at <date-time>", "when it expires, for example 2027-01-31T12:00:00Z")
  .action(async (options) => (await import("./cli/keys.ts")).createKey(readConfig(process.env), options));
keys
  .command("list")
  .description("list the keys, newest first")
  .action(async () => (await import("./cli/keys.ts")).listKeys(readConfig(process.env)));
keys
  .command("revoke <id>")
  .description("revoke a key; running servers reject it within 5 s")
  .action(async (id: string) => (await import("./cli/keys.ts")).revokeKey(readConfig(process.env), id));

const users = program
  .command("users")
  .description("list users or end all access of one in the configured database");
users
  .command("list")
  .description("list everyone who has ever signed in, with live sessions and active keys")
  .action(async () => (await import("./cli/users.ts")).showUsers(readConfig(process.env)));
users
  .command("end <user>")
  .description(
    "end all sessions and revoke all keys of a user, given by id or by an e-mail address that no other user has",
  )
  .action(async (user: string) =>
    (await import("./cli/users.ts")).endUserAccess(readConfig(process.env), user),
  );

const results = program
  .command("results")
  .description("repair evaluation results in the configured database");
results
  .command("mend-times")
  .description(
    "give results that a wrong clock dated in the future the times of their neighbours; servers may keep running",
  )
  .option("--dry-run", "only report which results are affected")
  .action(async (options) =>
    (await import("./cli/results.ts")).mendResultTimes(readConfig(process.env), options),
  );

program
  .command("sign-in")
  .description("print a one-time sign-in URL for the configured database; in local mode only")
  .action(async () => (await import("./cli/sign-in.ts")).printSignInAddress(readConfig(process.env)));

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
    "file for the predictions, as JSON lines; a second run resumes where the last one stopped",
  )
  .option("--keep-context", "also write each line's context, which judge evaluators need")
  .option(
    "--concurrency <number>",
    "maximum concurrent predictions; more than 256 need BUN_CONFIG_MAX_HTTP_REQUESTS",
    "32",
  )
  .option(
    "--server <url>",
    "call this Presage with the API key in PRESAGE_API_KEY instead of the configured upstream",
  )
  .action(async (options) =>
    (await import("./cli/predict/predict-command.ts")).predictCommand(readConfig(process.env), options),
  );

const collect = (value: string, earlier: string[] = []) => [...earlier, value];
program
  .command("evaluate")
  .description("evaluate each line of a file and store the results")
  .requiredOption(
    "--file <path>",
    "JSON lines with evaluated_model_output and whatever the evaluators need, or the output of presage predict --file",
  )
  .requiredOption("--evaluator <name[=profile]>", "an evaluator to run; repeatable", collect)
  .option(
    "--out <path>",
    "file for the outcomes, as JSON lines; a second run resumes where the last one stopped",
  )
  .option("--app <name>", "app that the results belong to", "default")
  .option("--tag <name=value>", "a tag for all results; repeatable", collect)
  .option("--run-id <id>", "run that the results belong to; by default the one in --out, or a new one")
  .option("--min-pass-rate <share>", "from 0 to 1: exit with 2 if the pass rate of an evaluator is lower")
  .option(
    "--concurrency <number>",
    "maximum concurrent lines; more than 256 requests at a time need BUN_CONFIG_MAX_HTTP_REQUESTS",
    "32",
  )
  .option(
    "--server <url>",
    "evaluate on this Presage with the API key in PRESAGE_API_KEY; it stores the results",
  )
  .action(async (options) =>
    (await import("./cli/evaluate/evaluate-command.ts")).evaluateCommand(readConfig(process.env), options),
  );

try {
  refuseUnknownCommand(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${explainError(error)}\n`);
  // Whatever the failed command left open must not keep the process alive.
  process.exit(1);
}

/** Without a command the server starts; a misspelt one must not. */
function refuseUnknownCommand(word: string | undefined): void {
  const names = program.commands.map((command) => command.name());
  if (word === undefined || word.startsWith("-") || word === "help" || names.includes(word)) return;
  throw new CommandError(`Unknown command ${word}; the commands are ${names.join(", ")}`);
}
