import type { Task } from "../../environments/environment.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import { mapJson } from "../../platform/written-json.ts";

const placeholder = /\{([A-Za-z_]\w*(?:\.[^{}.]+)*)\}/g;
const texts = ["initial_state", "prompt", "goal"];
/** Values with fields, which a placeholder names after a `.`. */
const objects = ["metadata", "context", "task"];

/** The placeholders in the strings of a template. */
export function placeholdersOf(template: Template): string[] {
  const found: string[] = [];
  mapJson(
    template,
    (leaf) => found.push(...namesIn(leaf)),
    (name) => name,
  );
  return found;
}

function namesIn(leaf: unknown): string[] {
  if (typeof leaf !== "string") return [];
  return [...leaf.matchAll(placeholder)].map(([, path = ""]) => path);
}

/** Whether a template in this place may use a placeholder. Whether the task has its value shows only when the task is played. */
export function isPlaceholder(path: string, place: "reset" | "action"): boolean {
  const [first = "", ...rest] = path.split(".");
  if (rest.length > 0) return objects.includes(first);
  return [...texts, ...objects].includes(first) || (first === "action" && place === "action");
}

/** A template with a task's values in place of the placeholders. A placeholder that is the whole string keeps its value's type. */
export function fill(template: Template, task: Task, action?: string): unknown {
  const values = { ...task, task, action };
  const valueAt = (path: string): unknown => {
    const value = atPath(values, path);
    if (value !== undefined && value !== null) return value;
    throw new UnplayableError(`The task has no ${path}, which the real environment is sent.`);
  };
  return mapJson(
    template,
    (leaf) => {
      if (typeof leaf !== "string") return leaf;
      const [name] = namesIn(leaf);
      if (name !== undefined && leaf === `{${name}}`) return valueAt(name);
      return leaf.replace(placeholder, (_, path: string) => asText(valueAt(path)));
    },
    (name) => name,
  );
}

/** Rewards of 0.1 add up to a little less than 1. */
export function isAtLeast(reward: number, limit: number): boolean {
  return reward >= limit - 1e-9;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value at a dotted path. */
export function atPath(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (holder, key) =>
        typeof holder === "object" && holder !== null && Object.hasOwn(holder, key)
          ? (holder as Record<string, unknown>)[key]
          : undefined,
      value,
    );
}

export const realProtocols = ["openenv", "ors", "http"] as const;
export type RealProtocol = (typeof realProtocols)[number];

/** JSON whose strings may contain placeholders, such as `{metadata.task}`. */
export type Template = null | boolean | number | string | Template[] | { [name: string]: Template };

/** When an episode has succeeded: by the sum of its rewards, by the reward of the step that ends it, or by what is observed. */
type SuccessRule =
  | { reward_at_least: number }
  | { done_reward_at_least: number }
  | { output_contains: string }
  | { output_matches: string };

/** A real environment's settings in the operator's file. */
export interface RealEnvironmentSettings {
  name: string;
  protocol: RealProtocol;
  url: string;
  /** The environment's name on that server. */
  environment: string | undefined;
  apiKey: string | undefined;
  reset: Template;
  action: Template;
  /** The path of the text in an observation; all of it if absent. */
  observation: string | undefined;
  success: SuccessRule;
  timeoutMs: number;
  maxInFlight: number;
}

export interface RealStep {
  observation: string;
  reward: number | null;
  done: boolean;
  latencyMs: number;
}

/** One episode in a real environment. */
export interface RealSession {
  /** The observation before the first action. */
  readonly first: string;
  step(action: string, signal: AbortSignal): Promise<RealStep>;
  /** Frees its place for the next episode. Never fails. */
  close(): Promise<void>;
}

/** Named as in `ErrorCategory` where the two overlap. */
export type RealFailure = "unavailable" | "timeout" | "refused" | "invalid" | "too_large";

/** A real environment did not answer as its protocol requires. Never a verdict. The message quotes nothing from the other side. */
export class RealEnvironmentError extends Error {
  readonly category: RealFailure;

  constructor(category: RealFailure, message: string) {
    super(message);
    this.name = "RealEnvironmentError";
    this.category = category;
  }
}

/** An episode that cannot be played in any real environment, which is not a failure of the real environment. */
export class UnplayableError extends RealEnvironmentError {
  constructor(message: string) {
    super("invalid", message);
  }
}

export const unreachable = () =>
  new RealEnvironmentError(
    "unavailable",
    "The real environment cannot be reached, or closed the connection.",
  );
export const tooLarge = () =>
  new RealEnvironmentError("too_large", "The real environment sent more than 1 MiB at once.");
export const unlikeProtocol = () =>
  new RealEnvironmentError(
    "invalid",
    "The real environment answered with something that its protocol does not allow.",
  );

export interface RealEnvironment {
  readonly name: string;
  readonly protocol: RealProtocol;
  /** The most concurrent episodes of this process. */
  readonly maxInFlight: number;
  inFlight(): number;
  lastFailure(): { at: Micros; category: RealFailure; message: string } | undefined;
  /** Resets the environment to a task, once one of the `maxInFlight` places is free. */
  open(task: Task, signal: AbortSignal): Promise<RealSession>;
  /** Whether an episode of these steps has succeeded. */
  succeeded(task: Task, steps: readonly RealStep[]): Promise<boolean> | boolean;
}

/** The real environments that the operator declares. */
export interface RealEnvironments {
  find(name: string): RealEnvironment | undefined;
  all(): RealEnvironment[];
  /** Environments whose settings are unchanged are kept. */
  replace(settings: readonly RealEnvironmentSettings[]): void;
}

/** One episode over a protocol, as the protocol's client implements it. */
export interface Exchange {
  readonly first: string;
  step(action: string, signal: AbortSignal): Promise<Omit<RealStep, "latencyMs">>;
  close(signal: AbortSignal): Promise<void>;
}

/** Resets a real environment to a task. */
export type OpenExchange = (
  settings: RealEnvironmentSettings,
  task: Task,
  signal: AbortSignal,
) => Promise<Exchange>;
