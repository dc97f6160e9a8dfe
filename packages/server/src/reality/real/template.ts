import { mapJson } from "../../datasets/traces/documents/exact-json.ts";
import type { Task } from "../../environments/environment.ts";
import { RealEnvironmentError, type Template } from "./real-environment.ts";

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
    throw new RealEnvironmentError("invalid", `The task has no ${path}, which the real environment is sent.`);
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
