import { DatasetFormat, RunCreateRequest, type RunMode, type RunTarget } from "@presage/contract";
import type { Command } from "commander";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { isObject } from "../platform/words.ts";
import { CommandError, choice, collect, onServer, readTags, toFlag } from "./command.ts";
import type { ConnectionOptions } from "./connect.ts";
import { toReference } from "./evaluate/evaluators.ts";
import { checkOptions } from "./files.ts";

/** The options of `presage run`, as Commander reads them. */
export interface RunOptions extends ConnectionOptions {
  dataset?: string;
  revision?: string;
  format?: DatasetFormat;
  name?: string;
  model?: string;
  deployment?: string;
  world?: string;
  baseline?: "no-change" | "most-frequent" | "retrieval";
  predictions?: string;
  mode?: RunMode;
  limit?: string;
  drawSeed?: string;
  evaluator?: string[];
  protocol?: ProtocolName;
  repeats?: string;
  concurrency?: string;
  ends?: string;
  params?: string;
  temperature?: string;
  seed?: string;
  maxTokens?: string;
  tag?: string[];
  minPassRate?: string[];
  against?: string;
  maxRegression?: string;
  undecided?: string;
  resume?: string;
  json?: boolean;
}

/** The options that say what `presage run` runs. */
export function addRunOptions(command: Command): Command {
  return command
    .option(
      "--dataset <name>",
      "a dataset by name or id, or a file of JSON lines, which is uploaded as a dataset named after it; the same lines give the same revision",
    )
    .option("--revision <number>", "revision of the dataset; by default the latest")
    .addOption(
      choice("--format <format>", "layout of a file; by default its contents tell", DatasetFormat.options),
    )
    .option("--name <name>", "the run's name")
    .option("--model <name>", "model to request instead of the deployment's")
    .option("--deployment <name>", "deployment that predicts, if not the default")
    .option("--world <name[@revision]>", "world that predicts; no sample gets examples of its own trajectory")
    .addOption(
      choice("--baseline <name>", "predict without a model", ["no-change", "most-frequent", "retrieval"]),
    )
    .option(
      "--predictions <path>",
      "JSON lines of predictions that were made elsewhere: they are uploaded and evaluated",
    )
    .addOption(
      choice(
        "--mode <mode>",
        "by default teacher-forced; in free-running, each step starts from the prediction for the step before",
        ["teacher-forced", "free-running"],
      ),
    )
    .option(
      "--limit <samples>",
      "a pilot: predict only this many samples, in trajectories drawn by --draw-seed; it passes no gate",
    )
    .option("--draw-seed <number>", "a different seed draws different trajectories for --limit; by default 1")
    .option("--evaluator <name[=profile]>", "an evaluator to run; repeatable", collect)
    .addOption(
      choice(
        "--protocol <name>",
        "measure as a published script does: sets --format, --evaluator and --mode, unless they are given",
        Object.keys(protocols),
      ),
    )
    .option("--repeats <number>", "predictions per sample; by default 1")
    .option("--concurrency <number>", "maximum concurrent predictions; by default 16, beginning with 4")
    .option(
      "--ends <json>",
      'what says that an episode ends, and with which reward, as in POST /v1/runs: {"environment": "kitchen"} or {"done_field": "$.done", "reward_field": "$.reward"}',
    )
    .option("--params <json>", "sampling parameters, as JSON")
    .option("--temperature <number>", "overrides temperature in --params")
    .option("--seed <number>", "overrides seed in --params; repeat r uses the seed plus r")
    .option("--max-tokens <number>", "overrides max_tokens in --params")
    .option("--tag <name=value>", "a tag of the run; repeatable", collect);
}

/** The options for the gates of `presage run`, and for how it continues and is shown. */
export function addGateOptions(command: Command): Command {
  return command
    .option(
      "--min-pass-rate <evaluator=share>",
      "exit with 2 if the pass rate of the evaluator is lower, with failures as not passed; repeatable",
      collect,
    )
    .option("--against <run>", "also compare with this finished run, given by id or name")
    .option(
      "--max-regression <points>",
      "exit with 2 if a mean score is lower than that of --against by more percentage points than this and p is under 0.05, or if more than 1 % of the samples have a verdict there only; with 3 if it is lower by more and the trajectories are too few to tell that from chance",
    )
    .option(
      "--undecided <pass|fail>",
      "exit with 0 or 2 instead of 3 where a gate cannot decide, pilots included",
    )
    .option("--resume <run>", "finish this run, given by id or name, instead of making a new one")
    .option("--json", "print the report as JSON instead of a table")
    .option(...onServer);
}

const targets = ["model", "deployment", "world", "baseline", "predictions"] as const;

const sampling = ["params", "temperature", "seed", "maxTokens"] as const;

const ofNewRuns = [
  "dataset",
  "revision",
  "format",
  "name",
  "model",
  "deployment",
  "world",
  "baseline",
  "mode",
  "limit",
  "drawSeed",
  "evaluator",
  "protocol",
  "repeats",
  "concurrency",
  "ends",
  ...sampling,
  "tag",
] as (keyof RunOptions)[];

/** An option that has no effect is a mistake. */
export function refuseContradictions(options: RunOptions): void {
  const given = (names: readonly (keyof RunOptions)[]) => names.filter((name) => options[name] !== undefined);
  const refuse = (one: keyof RunOptions, other: keyof RunOptions) => {
    throw new CommandError(`${toFlag(one)} cannot be combined with ${toFlag(other)}`);
  };
  if (options.resume !== undefined) {
    const [other] = given(ofNewRuns);
    if (other !== undefined) refuse("resume", other);
  } else if (options.dataset === undefined) {
    throw new CommandError("run needs --dataset, or --resume with a run");
  } else if (options.evaluator === undefined && options.protocol === undefined) {
    throw new CommandError("run needs --evaluator, or --protocol");
  }
  const [target] = given(["world", "baseline", "predictions"]);
  if (target !== undefined) {
    const unsampled = target === "world" ? [] : given(sampling);
    const [other] = [...given(targets), ...unsampled].filter((name) => name !== target);
    if (other !== undefined) refuse(target, other);
  }
  if (options.limit !== undefined && options.predictions !== undefined) refuse("limit", "predictions");
  if (options.drawSeed !== undefined && options.limit === undefined)
    throw new CommandError("--draw-seed needs --limit");
  if (options.maxRegression !== undefined && options.against === undefined)
    throw new CommandError("--max-regression needs --against, the run to compare with");
  const mayBePilot = (options.limit ?? options.resume) !== undefined && options.minPassRate !== undefined;
  if (options.undecided !== undefined && options.maxRegression === undefined && !mayBePilot)
    throw new CommandError("--undecided needs --max-regression, or --limit with --min-pass-rate");
}

export function readNumber(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new CommandError(`${flag} takes a number`);
}

/** What `--timeout` takes. */
export function readSeconds(text: string): number {
  const seconds = readNumber("--timeout", text);
  if (seconds > 0) return seconds;
  throw new CommandError("--timeout takes a number of seconds above 0");
}

/** How a published evaluation measures. */
interface Protocol {
  /** Absent: detected from the first line. */
  format?: DatasetFormat;
  /** As `--evaluator` takes them. */
  evaluators: readonly string[];
  mode: RunMode;
}

/** By the name that `--protocol` takes. docs/evaluations.md says what each profile does. */
const protocols = {
  mdlm: {
    evaluators: ["exact-match=system:mdlm-exact", "exact-match=system:mdlm-semantic"],
    mode: "teacher-forced",
  },
  word2world: {
    format: "chat",
    evaluators: ["exact-match=system:word2world-exact"],
    mode: "teacher-forced",
  },
  "llm-sim": {
    format: "llm-sim",
    evaluators: ["json-match=system:llm-sim"],
    mode: "teacher-forced",
  },
} as const satisfies Record<string, Protocol>;

type ProtocolName = keyof typeof protocols;

/** What `--protocol` sets unless other options do. */
export function protocolOf({ protocol }: Pick<RunOptions, "protocol">): Protocol | undefined {
  return protocol === undefined ? undefined : protocols[protocol];
}

/** The run that the options ask for, apart from the dataset, checked as the API would. */
export function readWantedRun(
  options: RunOptions,
  target: RunTarget,
  evaluators: readonly WantedEvaluator[],
): Omit<RunCreateRequest, "evaluators" | "dataset_id" | "revision"> {
  const { name, limit, drawSeed, repeats, concurrency, tag } = options;
  const mode = options.mode ?? protocolOf(options)?.mode;
  const params = readParams(options);
  const wanted = {
    target,
    ...(name !== undefined && { name }),
    ...(mode !== undefined && { mode }),
    ...(limit !== undefined && { limit: readNumber("--limit", limit) }),
    ...(drawSeed !== undefined && { draw_seed: readNumber("--draw-seed", drawSeed) }),
    ...(repeats !== undefined && { repeats: readNumber("--repeats", repeats) }),
    ...(concurrency !== undefined && { concurrency: readNumber("--concurrency", concurrency) }),
    ...(params !== undefined && { params }),
    ...(options.ends !== undefined && { ends: readObject("--ends", options.ends) }),
    ...(tag !== undefined && { tags: readTags(tag) }),
  };
  const request = { ...wanted, dataset_id: "unknown", evaluators: evaluators.map(toReference) };
  const checked = checkOptions(RunCreateRequest, request, (field) => toOption(field, target));
  const { dataset_id: _, evaluators: __, ...run } = checked;
  return run;
}

/** `--params temperature` for `params.temperature`. */
function toOption(field: string, wanted: RunTarget): string {
  const [name = "", ...rest] = field.split(".");
  const target = "world" in wanted ? "--world" : "--deployment";
  const flag = { tags: "--tag", evaluators: "--evaluator", target }[name] ?? toFlag(name);
  return [flag, ...(name === "params" ? rest : [])].join(" ");
}

/** Dedicated options take precedence over those in `--params`. */
function readParams({ params, temperature, seed, maxTokens }: RunOptions): object | undefined {
  const given = {
    ...(params !== undefined && readObject("--params", params)),
    ...(temperature !== undefined && { temperature: readNumber("--temperature", temperature) }),
    ...(seed !== undefined && { seed: readNumber("--seed", seed) }),
    ...(maxTokens !== undefined && { max_tokens: readNumber("--max-tokens", maxTokens) }),
  };
  return Object.keys(given).length === 0 ? undefined : given;
}

function readObject(flag: string, text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not even JSON.
  }
  if (isObject(value)) return value;
  throw new CommandError(`${flag} takes a JSON object`);
}
