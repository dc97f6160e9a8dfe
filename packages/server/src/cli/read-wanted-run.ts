import { RunCreateRequest, type RunTarget } from "@presage/contract";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { InvalidRequestError, validate } from "../http/validate.ts";
import { CommandError } from "./command-error.ts";
import { toReference } from "./evaluate-remotely.ts";
import { type Protocol, protocols } from "./protocols.ts";
import { describeIssues } from "./read-lines.ts";
import { readTags } from "./read-tags.ts";
import { type RunOptions, readNumber, toFlag } from "./run-options.ts";
import type { WantedRun } from "./workplace.ts";

/** What `--protocol` sets unless other options do. */
export function protocolOf({ protocol }: Pick<RunOptions, "protocol">): Protocol | undefined {
  return protocol === undefined ? undefined : protocols[protocol];
}

/** What the options want, apart from the dataset, checked as the API would. */
export function readWantedRun(
  options: RunOptions,
  target: RunTarget,
  evaluators: readonly WantedEvaluator[],
): Omit<WantedRun, "dataset_id" | "revision"> {
  const { name, repeats, concurrency, tag } = options;
  const mode = options.mode ?? protocolOf(options)?.mode;
  const params = readParams(options);
  const wanted = {
    target,
    ...(name !== undefined && { name }),
    ...(mode !== undefined && { mode }),
    ...(repeats !== undefined && { repeats: readNumber("--repeats", repeats) }),
    ...(concurrency !== undefined && { concurrency: readNumber("--concurrency", concurrency) }),
    ...(params !== undefined && { params }),
    ...(tag !== undefined && { tags: readTags(tag) }),
  };
  const request = { ...wanted, dataset_id: "unknown", evaluators: evaluators.map(toReference) };
  try {
    const { dataset_id: _, evaluators: __, ...checked } = validate(RunCreateRequest, request, "body");
    return checked;
  } catch (error) {
    throw error instanceof InvalidRequestError
      ? new CommandError(describeIssues(error.issues, toOption))
      : error;
  }
}

/** `--params temperature` for `params.temperature`. */
function toOption(field: string): string {
  const [name = "", ...rest] = field.split(".");
  const flag = { tags: "--tag", evaluators: "--evaluator", target: "--deployment" }[name] ?? toFlag(name);
  return [flag, ...(name === "params" ? rest : [])].join(" ");
}

/** Options of their own go before those in `--params`. */
function readParams({ params, temperature, seed, maxTokens }: RunOptions): object | undefined {
  const given = {
    ...(params !== undefined && readObject(params)),
    ...(temperature !== undefined && { temperature: readNumber("--temperature", temperature) }),
    ...(seed !== undefined && { seed: readNumber("--seed", seed) }),
    ...(maxTokens !== undefined && { max_tokens: readNumber("--max-tokens", maxTokens) }),
  };
  return Object.keys(given).length === 0 ? undefined : given;
}

function readObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not even JSON.
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new CommandError("--params takes a JSON object");
}
