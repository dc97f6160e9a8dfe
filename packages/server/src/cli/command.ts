import { Option } from "commander";
import type { User } from "../accounts/users-store.ts";
import type { Actor, Author } from "../platform/audit.ts";
import { operatingSystemUser } from "../platform/words.ts";

/** A command that cannot do what it was asked to; its message is all that the user needs. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CommandError";
  }
}

/** Options that several commands have. */
export const json = ["--json", "print JSON lines instead of a table"] as const;
export const onServer = [
  "--server <url>",
  "use this Presage server, with the API key in PRESAGE_API_KEY, instead of the configured database",
] as const;

/** An option that takes one of these words. */
export function choice(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices([...choices]);
}

/** Collects the values of a repeatable option. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** A query's parameters as Commander names options. */
export type FlagsOf<Query> = { [Name in keyof Query as CamelCase<Name>]: Query[Name] };

/** Turns options as Commander names them into the parameters of a query. */
export function queryOf<Query>(flags: object): Query {
  const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(flags).map(([name, value]) => [snakeCase(name), value])) as Query;
}

/** `--max-tokens` for `max_tokens` or `maxTokens`. */
export function toFlag(name: string): string {
  return `--${name.replaceAll(/_|(?=[A-Z])/g, "-").toLowerCase()}`;
}

/** Examples for the end of a command's help, as `addHelpText` takes them. */
export function examples(...lines: string[]): ["after", string] {
  return ["after", ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n")];
}

/** 128 plus the number of SIGPIPE, as shells report it. */
export const closedPipeExitCode = 141;

/** 128 plus the number of SIGINT, as shells report it. */
export const interruptedExitCode = 130;

/** A person stopped the command, which has already said what happened to its work. */
export class InterruptedError extends Error {
  constructor() {
    super("Interrupted");
    this.name = "InterruptedError";
  }
}

/** Whether the output's reader has closed it, as after `presage config | head -1`. */
export function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/** Exits when the output cannot be written: silently if its reader has closed it. */
export function endIfUnwritable(): void {
  process.stdout.on("error", (error) => {
    if (isClosedPipe(error)) process.exit(closedPipeExitCode);
    process.stderr.write(`The output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
}

const signals = ["SIGTERM", "SIGINT"] as const;

/** Handles each SIGTERM and SIGINT until the returned function is called. */
export function onSignals(handle: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of signals) process.on(signal, handle);
  return () => {
    for (const signal of signals) process.off(signal, handle);
  };
}

/** Resolves at the first SIGTERM or SIGINT; later ones do not count. A terminal signals every process of `npm start`, which forwards it. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => onSignals(resolve));
}

/** Writes lines for a person, by default to standard error. A terminal gets them wrapped between words; longer words stay whole. */
export function printNotice(text: string, stream: NodeJS.WriteStream = process.stderr): void {
  const { columns } = stream;
  const lines = text.split("\n");
  stream.write(`${(columns ? lines.map((line) => wrap(line, columns)) : lines).join("\n")}\n`);
}

/** Keeps the line's indentation on all lines that it is wrapped into. */
function wrap(line: string, width: number): string {
  const indentation = /^ */.exec(line)?.[0] ?? "";
  const wrapped = Bun.wrapAnsi(line.slice(indentation.length), Math.max(1, width - indentation.length));
  return wrapped.replaceAll(/^/gm, indentation);
}

/** Reads `--tag NAME=VALUE`. */
export function readTags(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      if (name === "" || value.length === 0) throw new CommandError("--tag takes NAME=VALUE");
      return [name, value.join("=")];
    }),
  );
}

/** How many requests Bun sends at a time unless BUN_CONFIG_MAX_HTTP_REQUESTS is set. */
export const defaultMaxHttpRequests = 256;

/** Settings that Bun reads from the environment only when it starts. A value that is already set is left alone. */
export const runtimeSettings = {
  /** Maximum concurrent outgoing requests. */
  BUN_CONFIG_MAX_HTTP_REQUESTS: "65535",
  /**
   * In bytes. JavaScriptCore lets garbage grow with the machine's memory. At 288 MiB it collects earlier. This is not a limit
   * (docs/decisions/0004-speed.md).
   */
  BUN_JSC_forceRAMSize: "301989888",
  /** How often a function runs before it is compiled or recompiled, which start-up code never is. Bun's defaults: 500 and 1,000. */
  BUN_JSC_thresholdForJITAfterWarmUp: "3000",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "8000",
  /** Milliseconds before freed memory returns to the system, and between an idle thread's searches for more. Bun's default: 100. */
  MIMALLOC_PURGE_DELAY: "500",
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "500",
};

/** Replaces this process, once, with one that has `runtimeSettings`. Where the system has no `execve`, Bun's defaults apply. */
export function settleRuntime(): void {
  if (process.env.BUN_CONFIG_MAX_HTTP_REQUESTS !== undefined || typeof process.execve !== "function") return;
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  const programAndArguments = isCompiled ? process.argv.slice(2) : process.argv.slice(1);
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...programAndArguments], {
    ...runtimeSettings,
    ...process.env,
  });
}

/** Configures the runtime for a command that sends more concurrent requests than Bun's default. */
export function settleRuntimeFor(concurrency: string): void {
  if (Number(concurrency) > defaultMaxHttpRequests) settleRuntime();
}

/** A command on the server's machine, in the audit log. */
export function commandLineActor(): Actor {
  return { kind: "command_line", userId: null, id: null, name: operatingSystemUser(), requestId: null };
}

/** The command line as the actor of changes in a user's account. */
export function changerFor(user: Pick<User, "account_id">): Author {
  return { accountId: user.account_id, actor: commandLineActor() };
}

/** Says that no model predicts. */
export function printSandboxNotice(): void {
  printNotice(
    "PRESAGE_UPSTREAM_URL is not set: using the built-in sandbox, a rule-based simulator, not a language model.",
  );
}
