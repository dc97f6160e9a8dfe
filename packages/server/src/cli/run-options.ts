import type { DatasetFormat, RunMode } from "@presage/contract";
import { CommandError } from "./command-error.ts";
import type { PlaceOptions } from "./place.ts";
import type { ProtocolName } from "./protocols.ts";

/** The options of `presage run`, as Commander reads them. */
export interface RunOptions extends PlaceOptions {
  dataset?: string;
  revision?: string;
  format?: DatasetFormat;
  name?: string;
  model?: string;
  deployment?: string;
  baseline?: "no-change" | "most-frequent";
  predictions?: string;
  mode?: RunMode;
  evaluator?: string[];
  protocol?: ProtocolName;
  repeats?: string;
  concurrency?: string;
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

const targets = ["model", "deployment", "baseline", "predictions"] as const;
const sampling = ["params", "temperature", "seed", "maxTokens"] as const;
const ofNewRuns = [
  ...["dataset", "revision", "format", "name", "model", "deployment", "baseline", "mode"],
  ...["evaluator", "protocol", "repeats", "concurrency", ...sampling, "tag"],
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
  const [target] = given(["baseline", "predictions"]);
  if (target !== undefined) {
    const [other] = [...given(targets), ...given(sampling)].filter((name) => name !== target);
    if (other !== undefined) refuse(target, other);
  }
  if (options.maxRegression !== undefined && options.against === undefined)
    throw new CommandError("--max-regression needs --against, the run to compare with");
  if (options.undecided !== undefined && options.maxRegression === undefined)
    throw new CommandError("--undecided needs --max-regression");
}

/** `--max-tokens` for `maxTokens`. */
export function toFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function readNumber(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new CommandError(`${flag} takes a number`);
}
