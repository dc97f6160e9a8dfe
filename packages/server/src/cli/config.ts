import { type Command, Help } from "commander";
import { z } from "zod";
import { type Config, describeConfig, readConfig, unknownVariables } from "../config/config.ts";
import { type EnvironmentName, environment } from "../config/environment.ts";
import type { RawEnvironment } from "../config/values.ts";
import { defaultIndexBytes, quarterOfMemory } from "../platform/limits/memory.ts";
import { printableJson, similarName } from "../platform/words.ts";
import { examples, json, printNotice } from "./command.ts";

/** The configuration of a command that does not log. */
export function configure(): Config {
  warnOfUnknownVariables(process.env);
  return readConfig(process.env);
}

/** A misspelt variable has no effect, which would otherwise go unnoticed. */
function warnOfUnknownVariables(raw: RawEnvironment): void {
  const known = Object.keys(environment.shape);
  for (const name of unknownVariables(raw)) {
    const similar = similarName(name, known);
    const hint = similar === undefined ? "" : `; did you mean ${similar}?`;
    printNotice(`${name} is unknown and has no effect${hint}`);
  }
}

/** `presage config` and `environment`. */
export function addConfigCommands(program: Command): void {
  program
    .command("config")
    .summary("show the effective configuration")
    .description("show the effective configuration, with secrets hidden")
    .option(...json)
    .addHelpText(...examples("presage config", "presage config | grep PRESAGE_UPSTREAM"))
    .action(async (options) => showConfig(process.env, options));

  program
    .command("environment", { hidden: true })
    .description("list every environment variable")
    .configureHelp({ formatHelp: environmentHelp })
    .action(() => {
      process.stdout.write(environmentHelp());
    });
}

type Origin = "set" | "default" | "derived" | "not set";

/** Prints every variable's effective value and where it is from. */
async function showConfig(raw: RawEnvironment, { json = false }: { json?: boolean }): Promise<void> {
  const derived: Readonly<Partial<Record<string, string>>> = await derivedValues(readConfig(raw));
  for (const variable of describeConfig(raw)) {
    const { name } = variable;
    const value = variable.value || (derived[name] ?? "");
    const from = originOf(variable, derived[name]);
    process.stdout.write(
      json ? `${printableJson({ name, value, from })}\n` : `${`${name}=${value}`.padEnd(60)} # ${from}\n`,
    );
  }
  warnOfUnknownVariables(raw);
}

function originOf(
  { value, from }: ReturnType<typeof describeConfig>[number],
  derived: string | undefined,
): Origin {
  if (from === "environment") return "set";
  if (value !== "") return "default";
  return derived === undefined ? "not set" : "derived";
}

/** The values of unset variables that depend on other variables or on the machine. */
async function derivedValues(config: Config): Promise<Partial<Record<EnvironmentName, string>>> {
  // Every command loads this file, so these are loaded only here.
  const { listenAddress } = await import("../app/listen.ts");
  const { browserAddress } = await import("../http/pages.ts");
  const { listen, upstream, judge, prediction, memoryBudgetBytes, worlds } = config;
  const isJudgeUpstream = judge.url === undefined && upstream.urls !== undefined;
  return {
    PRESAGE_RATE_LIMIT_USER_RPM: String(prediction.userRatePerMinute),
    PRESAGE_RATE_LIMIT_ACCOUNT_RPM: String(prediction.accountRatePerMinute),
    PRESAGE_MEMORY_BUDGET_BYTES: String(memoryBudgetBytes ?? quarterOfMemory()),
    PRESAGE_INDEX_MAX_BYTES: String(worlds.maxIndexBytes ?? defaultIndexBytes(config.workers)),
    PRESAGE_JUDGE_MAX_IN_FLIGHT: String(judge.maxInFlight),
    ...(listen.port !== 0 && {
      PRESAGE_PUBLIC_URL: browserAddress(listenAddress(listen.host, listen.port)),
    }),
    ...(isJudgeUpstream && { PRESAGE_JUDGE_URL: upstream.urls?.join(",") ?? "" }),
    ...(isJudgeUpstream && upstream.model !== undefined && { PRESAGE_JUDGE_MODEL: upstream.model }),
    ...(isJudgeUpstream && upstream.apiKey !== undefined && { PRESAGE_JUDGE_API_KEY: "***" }),
  };
}

/** The environment variables with descriptions and defaults, for `--help`. */
function environmentHelp(): string {
  const help = new Help();
  help.helpWidth = process.stdout.columns ?? 80;
  const names = Object.keys(environment.shape);
  const nameWidth = Math.max(...names.map((name) => name.length));
  const rows = Object.entries(environment.shape).map(([name, schema]) => {
    const description = z.globalRegistry.get(schema)?.description;
    const fallback = defaultOf(schema);
    const text = fallback === undefined ? `${description}` : `${description} (default: ${fallback})`;
    return help.formatItem(name, nameWidth, text, help);
  });
  return ["Environment variables:", ...rows, ""].join("\n");
}

function defaultOf(schema: z.ZodType): string | undefined {
  const value = schema.safeParse(undefined);
  return value.success && value.data !== undefined ? String(value.data) : undefined;
}
