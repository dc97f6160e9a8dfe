#!/usr/bin/env bun
import { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { CommandError } from "./cli/command-error.ts";
import { environmentHelp } from "./cli/environment-help.ts";
import { explainError } from "./cli/explain-error.ts";
import { bypassProxyForLoopback, settleRuntime } from "./cli/settle-runtime.ts";
import { readConfig, unknownVariables } from "./config.ts";

bypassProxyForLoopback();

const program = new Command("presage")
  .description(
    "A server in front of a language model that is used as an environment: it predicts the next state.",
  )
  .version(packageJson.version)
  .addHelpText("after", () => `\n${environmentHelp()}`);

// Each command loads its own code, so that none of them waits for another's.
program
  .command("serve", { isDefault: true })
  .description("run the server (what presage does without a command)")
  .allowExcessArguments(false)
  .action(async () => {
    settleRuntime();
    const { serve } = await import("./cli/serve.ts");
    await serve(readConfig(process.env), unknownVariables(process.env));
    process.exit();
  });

program
  .command("config")
  .description("show the effective configuration, secrets hidden")
  .action(async () => (await import("./cli/config.ts")).showConfig(process.env));

program
  .command("migrate")
  .description("bring the database's schema up to date")
  .action(async () => (await import("./cli/migrate.ts")).migrateDatabase(readConfig(process.env)));

const keys = program
  .command("keys")
  .description("create, list or revoke the owner's API keys, in the configured database");
keys
  .command("create")
  .description("make a key and print it once")
  .requiredOption("--name <name>", "what the key is for")
  .option("--expires-at <date-time>", "when it stops working, for example 2027-01-31T12:00:00Z")
  .action(async (options) => (await import("./cli/keys.ts")).createKey(readConfig(process.env), options));
keys
  .command("list")
  .description("list the keys, newest first")
  .action(async () => (await import("./cli/keys.ts")).listKeys(readConfig(process.env)));
keys
  .command("revoke <id>")
  .description("revoke a key; a running server refuses it within 5 s")
  .action(async (id: string) => (await import("./cli/keys.ts")).revokeKey(readConfig(process.env), id));

const users = program
  .command("users")
  .description("list the users or end all access of one, in the configured database");
users
  .command("list")
  .description("list everybody who ever signed in, with their live sessions and active keys")
  .action(async () => (await import("./cli/users.ts")).showUsers(readConfig(process.env)));
users
  .command("end <user>")
  .description(
    "end every session and revoke every key of a user, named by id or by an e-mail that only they have",
  )
  .action(async (user: string) =>
    (await import("./cli/users.ts")).endUserAccess(readConfig(process.env), user),
  );

const results = program
  .command("results")
  .description("mend what is wrong with evaluation results, in the configured database");
results
  .command("mend-times")
  .description(
    "give results that a wrong clock dated in the future the times of their neighbours, beside running servers",
  )
  .option("--dry-run", "only say which results that are")
  .action(async (options) =>
    (await import("./cli/results.ts")).mendResultTimes(readConfig(process.env), options),
  );

program
  .command("sign-in")
  .description(
    "print an address that signs a browser in once; in local mode only, on the configured database",
  )
  .action(async () => (await import("./cli/sign-in.ts")).printSignInAddress(readConfig(process.env)));

program
  .command("predict")
  .description("predict one next state, or one for every line of a file")
  .option("--state <text>", "the state before the action")
  .option("--action <text>", "what the agent does")
  .option("--context <json>", "the context's five fields, as JSON")
  .option("--params <json>", "sampling parameters, as JSON")
  .option(
    "--file <path>",
    "transitions: JSON lines with interaction, and perhaps context, params and next_state",
  )
  .option(
    "--out <path>",
    "where the predictions go, as JSON lines; a second run goes on where the first one ended",
  )
  .option("--keep-context", "write each line's context too, which a judge of the predictions needs")
  .option("--concurrency <number>", "predictions under way at once", "32")
  .option(
    "--server <url>",
    "ask this Presage, with the key in PRESAGE_API_KEY, instead of the configured upstream",
  )
  .action(async (options) =>
    (await import("./cli/predict/predict-command.ts")).predictCommand(readConfig(process.env), options),
  );

const collect = (value: string, earlier: string[]) => [...earlier, value];
program
  .command("evaluate")
  .description("evaluate every line of a file and keep the results")
  .requiredOption(
    "--file <path>",
    "JSON lines with evaluated_model_output and what the evaluators need, or what presage predict --file wrote",
  )
  .requiredOption("--evaluator <name[=profile]>", "an evaluator to run; may be given again", collect, [])
  .option(
    "--out <path>",
    "where the outcomes go, as JSON lines; a second run goes on where the first one ended",
  )
  .option("--app <name>", "the app that the results are filed under", "default")
  .option("--tag <name=value>", "a tag of every result; may be given again", collect, [])
  .option("--run-id <id>", "the run that the results belong to; by default a new one, or that of --out")
  .option("--min-pass-rate <share>", "from 0 to 1: exit with 2 if an evaluator passes fewer of its verdicts")
  .option("--concurrency <number>", "lines under way at once", "32")
  .option(
    "--server <url>",
    "let this Presage evaluate, with the key in PRESAGE_API_KEY, and keep the results",
  )
  .action(async (options) =>
    (await import("./cli/evaluate/evaluate-command.ts")).evaluateCommand(readConfig(process.env), options),
  );

try {
  refuseUnknownCommand(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${explainError(error)}\n`);
  // What the failed command still holds open must not keep the process alive.
  process.exit(1);
}

/** Without a command the server starts; a misspelt one must not. */
function refuseUnknownCommand(word: string | undefined): void {
  const names = program.commands.map((command) => command.name());
  if (word === undefined || word.startsWith("-") || word === "help" || names.includes(word)) return;
  throw new CommandError(`Unknown command ${word}; the commands are ${names.join(", ")}`);
}
