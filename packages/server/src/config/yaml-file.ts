import { basename } from "node:path";
import type { Document } from "yaml";
import { z } from "zod";
import { ConfigError } from "./config.ts";
import { expectedNumber, expectedOf } from "./values.ts";

/** Loaded by the first file, so that a server without files does without it. */
const yaml = (): typeof import("yaml") => require("yaml");

export type Path = readonly PropertyKey[];

export interface FileIssue {
  offset: number;
  text: string;
}

export interface YamlFile<Value> {
  value: Value;
  /** The issue at this key or, if the key is missing, at its parent. */
  issueAt(path: Path, text: string): FileIssue;
  /** Throws a `ConfigError` if there are issues. */
  refuse(issues: readonly FileIssue[]): void;
}

/** Reads the text of a file of settings, or throws a `ConfigError` that names the variable with its path. */
export async function readSettingsFile(variable: string, path: string): Promise<string> {
  return await Bun.file(path)
    .text()
    .catch((error: unknown) => {
      const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
      throw new ConfigError([`${variable}: the file cannot be read (${reason}): ${path}`]);
    });
}

/**
 * Reads YAML by a schema, or throws a `ConfigError` with a line for each issue: file, line, place and what was expected, as the
 * `expected` of the place's schema. It quotes no values, since one may be a key in the wrong place.
 */
export function parseYamlFile<Schema extends z.ZodType>(
  path: string,
  text: string,
  schema: Schema,
): YamlFile<z.output<Schema>> {
  const { LineCounter, parseDocument } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    resolveKnownTags: false,
  });

  function refuse(issues: readonly FileIssue[]): void {
    if (issues.length === 0) return;
    const sorted = issues.toSorted((one, other) => one.offset - other.offset);
    const lineOf = ({ offset }: FileIssue) => Math.max(1, lines.linePos(offset).line);
    throw new ConfigError(sorted.map((issue) => `${basename(path)}:${lineOf(issue)}: ${issue.text}`));
  }

  function issueAt(place: Path, issue: string): FileIssue {
    const name = place.map(String).join(".");
    return { offset: offsetOf(document, place), text: name === "" ? issue : `${name}: ${issue}` };
  }

  function describe(issue: z.core.$ZodIssue, value: unknown): FileIssue[] {
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => issueAt([...issue.path, key], "unknown key"));
    const isKey = issue.code === "invalid_key";
    const wanted = schemaAt(schema, issue.path, isKey);
    const expectation = expectedOf(wanted) ?? "a map of keys and values";
    const isMissing = !isKey && valueAt(value, issue.path) === undefined;
    return [issueAt(issue.path, `${isMissing ? "missing; " : ""}expected ${expectation}`)];
  }

  refuse([
    ...[...document.errors, ...document.warnings].map(({ pos, message }) => ({
      offset: pos[0],
      text: message,
    })),
    ...unsupportedIn(document),
  ]);
  const value: unknown = document.toJS();
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    refuse(parsed.error.issues.flatMap((issue) => describe(issue, value)));
    throw new ConfigError([`${basename(path)}: it is not valid`]);
  }
  return { value: parsed.data, issueAt, refuse };
}

/** The schema of a place, or of the last one on the way to it that has one; of a key, that of the keys beside it. */
function schemaAt(schema: z.core.$ZodType, path: Path, isKey: boolean): z.core.$ZodType {
  let found = schema;
  for (const [depth, name] of path.entries()) {
    if (found instanceof z.ZodRecord && isKey && depth === path.length - 1) return found.keyType;
    const inner: z.core.$ZodType | undefined =
      found instanceof z.ZodObject
        ? found.shape[String(name)]
        : found instanceof z.ZodRecord
          ? found.valueType
          : found instanceof z.ZodArray
            ? found.element
            : undefined;
    if (inner === undefined) return found;
    found = inner;
  }
  return found;
}

/** What no schema sees. */
function unsupportedIn(document: Document): FileIssue[] {
  const { isScalar, visit } = yaml();
  const issues: FileIssue[] = [];
  visit(document, {
    Alias: (_, { range }) => {
      issues.push({ offset: range?.[0] ?? 0, text: "aliases are not supported; write the value again" });
    },
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === "__proto__")
        issues.push({ offset: key.range?.[0] ?? 0, text: "__proto__: unknown key" });
    },
  });
  return issues;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((holder, key) => Object(holder)[key], value);
}

function offsetOf(document: Document, path: Path): number {
  if (path.length === 0) return document.contents?.range?.[0] ?? 0;
  const holder = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const key = path.at(-1);
  const { isMap } = yaml();
  if (isMap(holder)) {
    const pair = holder.items.find((item) => String(item.key) === String(key));
    const range = pair !== undefined && isRanged(pair.key) ? pair.key.range : undefined;
    if (range) return range[0];
  }
  const node = document.getIn(path, true);
  if (isRanged(node) && node.range) return node.range[0];
  return offsetOf(document, path.slice(0, -1));
}

function isRanged(node: unknown): node is { range?: readonly [number, number, number] | null } {
  return typeof node === "object" && node !== null && "range" in node && !yaml().isAlias(node);
}

export const dayMs = 86_400_000;
/** As a header's value and as a model's name. */
export const name = z.string().regex(/^[a-zA-Z0-9][\w.-]{0,63}$/);
export const expected = (text: string) => ({ expected: text });
export const wholeNumber = (lowest: number, highest: number, unit?: string) =>
  z
    .int()
    .min(lowest)
    .max(highest)
    .meta(expected(expectedNumber(lowest, highest, unit)));
export const expectedName = expected("a name of up to 64 letters, digits, dots, hyphens and underscores");
/** The variable with a key, which the file never holds itself. */
export const apiKeyVariable = z
  .string()
  .regex(/^[A-Za-z_]\w*$/)
  .meta(expected("the name of the environment variable that holds the key"));

/** Why the key in a variable cannot be sent. */
export function findFaultOfKey(apiKey: string | undefined): string | undefined {
  if (!apiKey) return "the environment has no such variable";
  if (/^[\x20-\x7e]+$/.test(apiKey)) return undefined;
  return "the variable's value has characters that a header cannot carry, such as a line break";
}
