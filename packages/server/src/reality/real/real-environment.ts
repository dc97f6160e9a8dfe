import { mapJson } from "../../datasets/traces/documents/exact-json.ts";
import type { Task } from "../../environments/environment.ts";
import type { Micros } from "../../platform/storage/columns.ts";

const placeholder = /\{([A-Za-z_]\w*(?:\.[^{}.]+)*)\}/g;
const texts = ["initial_state", "prompt", "goal"];
/** What has fields of its own, which `.` leads to. */
const objects = ["metadata", "context", "task"];

/** What the strings of a template name. */
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

/** Whether a template of this place can name it. A task says only when it is played whether it has it. */
export function isPlaceholder(path: string, place: "reset" | "action"): boolean {
  const [first = "", ...rest] = path.split(".");
  if (rest.length > 0) return objects.includes(first);
  return [...texts, ...objects].includes(first) || (first === "action" && place === "action");
}

/** A template with what a task has in place of the placeholders. One that is alone in its string keeps its type. */
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

/** What is at a dotted path of a value. */
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

/** JSON in whose strings there may be placeholders, such as `{metadata.task}`. */
export type Template = null | boolean | number | string | Template[] | { [name: string]: Template };

/** When an episode has succeeded: by the sum of its rewards, by the reward of the step that ends it, or by what is seen. */
type SuccessRule =
  | { reward_at_least: number }
  | { done_reward_at_least: number }
  | { output_contains: string }
  | { output_matches: string };

/** What the operator's file says of a real environment. */
export interface RealEnvironmentSettings {
  name: string;
  protocol: RealProtocol;
  url: string;
  /** Its name on that server. */
  environment: string | undefined;
  apiKey: string | undefined;
  reset: Template;
  action: Template;
  /** The path of the text in what is observed. Absent: all of it. */
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
  /** What is seen before the first action. */
  readonly first: string;
  step(action: string, signal: AbortSignal): Promise<RealStep>;
  /** Gives its place to the next one. Never fails. */
  close(): Promise<void>;
}

/** As `ErrorCategory` where they are alike. */
export type RealFailure = "unavailable" | "timeout" | "refused" | "invalid" | "too_large";

/** A real environment that did not answer as its protocol says. Never a verdict. The message has nothing that the other side sent. */
export class RealEnvironmentError extends Error {
  readonly category: RealFailure;

  constructor(category: RealFailure, message: string) {
    super(message);
    this.name = "RealEnvironmentError";
    this.category = category;
  }
}

/** An episode that nothing can be sent of, wherever it is sent: no failure of the real environment. */
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
  /** Episodes at once, in this process. */
  readonly maxInFlight: number;
  inFlight(): number;
  lastFailure(): { at: Micros; category: RealFailure; message: string } | undefined;
  /** Resets it to a task, once there is a place among `maxInFlight`. */
  open(task: Task, signal: AbortSignal): Promise<RealSession>;
  /** Whether an episode of these steps has succeeded. */
  succeeded(task: Task, steps: readonly RealStep[]): Promise<boolean> | boolean;
}

/** The real environments that the operator declares. */
export interface RealEnvironments {
  find(name: string): RealEnvironment | undefined;
  all(): RealEnvironment[];
  /** Those whose settings are the same stay as they are. */
  replace(settings: readonly RealEnvironmentSettings[]): void;
}

/** An episode by its protocol: what its client makes of it. */
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
