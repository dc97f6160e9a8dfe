#!/usr/bin/env bun
import { Command, Help } from "commander";
import packageJson from "../package.json" with { type: "json" };
import {
  CommandError,
  closedPipeExitCode,
  endIfUnwritable,
  InterruptedError,
  interruptedExitCode,
  isClosedPipe,
  printNotice,
  settleRuntime,
} from "./cli/command.ts";
import { similarName } from "./platform/words.ts";

/** Adds commands to `presage`. */
type Add = (program: Command) => void;

/** In the order of the help. A command loads only its own family. */
const families: readonly (readonly [names: readonly string[], load: () => Promise<Add>])[] = [
  [["serve", "worker", "health"], async () => (await import("./cli/serve.ts")).addServerCommands],
  [["config", "environment"], async () => (await import("./cli/config.ts")).addConfigCommands],
  [
    ["migrate", "backup", "restore", "account", "export"],
    async () => (await import("./cli/database.ts")).addDatabaseCommands,
  ],
  [["doctor"], async () => (await import("./cli/doctor.ts")).addDoctorCommand],
  [["keys"], async () => (await import("./cli/accounts/keys.ts")).addKeysCommands],
  [["budget"], async () => (await import("./cli/accounts/budget.ts")).addBudgetCommands],
  [["users"], async () => (await import("./cli/accounts/users.ts")).addUsersCommands],
  [["audit"], async () => (await import("./cli/accounts/audit.ts")).addAuditCommand],
  [["import", "formats"], async () => (await import("./cli/traces/import.ts")).addImportCommands],
  [["episodes"], async () => (await import("./cli/traces/export.ts")).addEpisodesCommands],
  [["datasets"], async () => (await import("./cli/datasets.ts")).addDatasetsCommands],
  [["worlds", "play"], async () => (await import("./cli/worlds/worlds.ts")).addWorldsCommands],
  [["run"], async () => (await import("./cli/run.ts")).addRunCommand],
  [["goals"], async () => (await import("./cli/runs.ts")).addGoalsCommands],
  [["label", "agree", "correct"], async () => (await import("./cli/labels.ts")).addLabelCommands],
  [["calibrate"], async () => (await import("./cli/calibration.ts")).addCalibrateCommand],
  [["reality"], async () => (await import("./cli/reality.ts")).addRealityCommand],
  [["compare", "report", "runs"], async () => (await import("./cli/runs.ts")).addRunsCommands],
  [["results"], async () => (await import("./cli/database.ts")).addResultsCommands],
  [["sign-in"], async () => (await import("./cli/accounts/users.ts")).addSignInCommand],
  [["predict"], async () => (await import("./cli/predict.ts")).addPredictCommand],
  [["evaluate"], async () => (await import("./cli/evaluate/evaluate.ts")).addEvaluateCommand],
];

const words = process.argv.slice(2);
const [first = "serve"] = words;
bypassProxyForLoopback();
endIfUnwritable();
// Comes before the server's code is loaded, which the process that takes over would have to load again.
if (first === "serve") settleRuntime();

const program = new Command("presage")
  .description("A server in front of a language model that simulates an environment.")
  .configureHelp({
    helpWidth: process.stdout.columns ?? 80,
    // Without `help`, as --help is named.
    visibleCommands: (command) => new Help().visibleCommands(command).filter((one) => one.name() !== "help"),
    // The program's own options, --version and --help, would take lines away from the commands.
    visibleOptions: (command) => (command.parent === null ? [] : new Help().visibleOptions(command)),
  })
  .version(packageJson.version)
  .addHelpText(
    "after",
    "\npresage help environment lists every environment variable and its default;\n--version prints the version.",
  );

try {
  for (const add of await loadFamilies(first)) add(program);
  refuseUnknownCommand(program, words);
  await program.parseAsync();
} catch (error) {
  if (isClosedPipe(error)) process.exit(closedPipeExitCode);
  if (error instanceof InterruptedError) process.exit(interruptedExitCode);
  const { explainError } = await import("./cli/errors.ts");
  printNotice(explainError(error));
  // Whatever the failed command left open must not keep the process alive.
  process.exit(1);
}

/** Loads the family of the command; all of them for help or an unknown word. */
async function loadFamilies(word: string): Promise<Add[]> {
  if (word === "--version" || word === "-V") return [];
  const named = families.filter(([names]) => names.includes(word));
  return await Promise.all((named.length === 0 ? families : named).map(([, load]) => load()));
}

/** Keeps requests to this machine away from a configured proxy. Bun reads these variables at every request. */
function bypassProxyForLoopback(): void {
  const excluded = (process.env.NO_PROXY ?? process.env.no_proxy ?? "").split(",").filter(Boolean);
  const noProxy = [...new Set([...excluded, "127.0.0.1", "localhost", "[::1]"])].join(",");
  process.env.NO_PROXY = noProxy;
  process.env.no_proxy = noProxy;
}

/**
 * Refuses a misspelt command, even before `--help`. Without a command the server starts, so Commander would take any word
 * for an argument of `serve`.
 */
function refuseUnknownCommand(parent: Command, [word, ...rest]: readonly string[]): void {
  if (parent.commands.length === 0 || word === undefined || word.startsWith("-")) return;
  if (word === "help") {
    refuseUnknownCommand(parent, rest);
    return;
  }
  const command = parent.commands.find((one) => one.name() === word);
  if (command !== undefined) {
    refuseUnknownCommand(command, rest);
    return;
  }
  const names = parent
    .createHelp()
    .visibleCommands(parent)
    .map((one) => one.name())
    .filter((name) => name !== "help");
  const similar = similarName(word, names);
  const hint = similar === undefined ? "" : ` Did you mean ${similar}?`;
  const given = parent.parent === null ? word : `${parent.name()} ${word}`;
  const available = names.length === 1 ? `command is ${names[0]}` : `commands are ${names.join(", ")}`;
  throw new CommandError(`Unknown command ${given}.${hint} The ${available}.`);
}
