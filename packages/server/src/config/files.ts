import { basename } from "node:path";
import type { Document } from "yaml";
import { z } from "zod";
import {
  isCountedModelName,
  type ModelPrices,
  maxModelNameCharacters,
  type Prices,
} from "../platform/prices.ts";
import { controlTokenRules, type DeploymentSettings } from "../upstream/deployments.ts";
import { ConfigError } from "./config.ts";
import { cachePolicies } from "./environment.ts";
import {
  areDifferentUrls,
  expectedNumber,
  expectedOf,
  httpUrl,
  oneOf,
  type RawEnvironment,
  unlimited,
} from "./values.ts";

/** Loaded for the first file, as a server without files does not need it. */
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
 * Reads YAML by a schema, or throws a `ConfigError` with a line for each issue: file, line, place and the `expected` text of the
 * place's schema. It quotes no values, since one may be an API key in the wrong place.
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

/** The schema of a place, or of its nearest ancestor that has one; for the key of a record, the schema of its keys. */
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

/** Issues that no schema sees. */
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

const dayMs = 86_400_000;
/** A name that is valid both in a header and as a model's name. */
export const name = z.string().regex(/^[a-zA-Z0-9][\w.-]{0,63}$/);
export const expected = (text: string) => ({ expected: text });
export const wholeNumber = (lowest: number, highest: number, unit?: string) =>
  z
    .int()
    .min(lowest)
    .max(highest)
    .meta(expected(expectedNumber(lowest, highest, unit)));
export const expectedName = expected("a name of up to 64 letters, digits, dots, hyphens and underscores");
/** The variable that contains a key; the file never contains the key itself. */
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

const expectedUrls = "a list of different http or https URLs without a user name, password or query";

const deployment = z.strictObject({
  replicas: z.array(httpUrl).min(1).refine(areDifferentUrls).meta(expected(expectedUrls)),
  model: z.string().min(1).optional().meta(expected("text")),
  api_key_env: apiKeyVariable.optional(),
  timeout_ms: wholeNumber(1, dayMs, "milliseconds").optional(),
  first_byte_timeout_ms: wholeNumber(0, dayMs)
    .default(0)
    .meta(expected(`a whole number of milliseconds from 0 to ${dayMs}; 0 for none`)),
  max_in_flight_per_replica: wholeNumber(1, unlimited).optional(),
  fallback: name.optional().meta(expected("the name of another deployment")),
  cache: oneOf(cachePolicies).default("off"),
  control_tokens: oneOf(controlTokenRules).default("fail"),
});

const file = z.strictObject({
  default: name.meta(expected("the name of a deployment")),
  deployments: z
    .record(name.meta(expectedName), deployment)
    .refine((named) => Object.keys(named).length > 0)
    .meta(expected("at least one deployment")),
});
type DeploymentsFile = z.output<typeof file>;

/** Reads the deployments from YAML, or throws a `ConfigError` with a line for each issue. */
export function parseDeployments(
  path: string,
  text: string,
  { raw, timeoutMs }: { raw: RawEnvironment; timeoutMs: number },
): DeploymentSettings {
  const parsed = parseYamlFile(path, text, file);
  parsed.refuse(findContradictions(parsed, raw));
  return toSettings(parsed.value, raw, timeoutMs);
}

/** What the schema cannot express: names that refer to others, and variables that are not set. */
function findContradictions({ value, issueAt }: YamlFile<DeploymentsFile>, raw: RawEnvironment): FileIssue[] {
  const { default: defaultName, deployments } = value;
  const issues: FileIssue[] = [];
  const names = Object.keys(deployments).join(", ");
  if (!Object.hasOwn(deployments, defaultName))
    issues.push(issueAt(["default"], `there is no deployment of this name; there are ${names}`));
  for (const [own, { fallback, api_key_env: variable }] of Object.entries(deployments)) {
    const place = ["deployments", own];
    const faultOfKey = variable === undefined ? undefined : findFaultOfKey(raw[variable]);
    if (faultOfKey !== undefined) issues.push(issueAt([...place, "api_key_env"], faultOfKey));
    if (fallback === undefined) continue;
    if (!Object.hasOwn(deployments, fallback))
      issues.push(issueAt([...place, "fallback"], `there is no deployment of this name; there are ${names}`));
    else if (leadsBack(deployments, own))
      issues.push(issueAt([...place, "fallback"], "the fallbacks lead back to this deployment"));
  }
  return issues;
}

function leadsBack(deployments: DeploymentsFile["deployments"], start: string): boolean {
  const seen = new Set<string>();
  let next = deployments[start]?.fallback;
  while (next !== undefined && !seen.has(next)) {
    if (next === start) return true;
    seen.add(next);
    next = deployments[next]?.fallback;
  }
  return false;
}

function toSettings(
  { default: defaultName, deployments }: DeploymentsFile,
  raw: RawEnvironment,
  timeoutMs: number,
): DeploymentSettings {
  return {
    defaultName,
    deployments: Object.entries(deployments).map(([own, given]) => ({
      name: own,
      urls: given.replicas,
      apiKey: given.api_key_env === undefined ? undefined : raw[given.api_key_env],
      model: given.model,
      timeoutMs: given.timeout_ms ?? timeoutMs,
      firstByteTimeoutMs: given.first_byte_timeout_ms,
      maxInFlightPerReplica: given.max_in_flight_per_replica,
      fallback: given.fallback,
      cache: given.cache,
      controlTokens: given.control_tokens,
    })),
  };
}

/** Queries of usage name all of them. */
const maxModels = 1_000;
/** Far above any real price, yet finite when multiplied by any number of tokens. */
const maxPrice = 1_000_000_000;

const price = z
  .number()
  .min(0)
  .max(maxPrice)
  .meta(expected(`a price per million tokens, a number from 0 to ${maxPrice}`));

const model = z.strictObject({ prompt: price, cached: price.optional(), completion: price });

const currencies = new Set(Intl.supportedValuesOf("currency"));

const pricesFile = z.strictObject({
  currency: z
    .string()
    .refine((code) => currencies.has(code))
    .default("USD")
    .meta(expected("the ISO code of a currency, such as USD")),
  models: z
    .record(
      z
        .string()
        .refine(isCountedModelName)
        .meta(expected(`a model's name of up to ${maxModelNameCharacters} characters on one line`)),
      model,
    )
    .refine((models) => Object.keys(models).length > 0 && Object.keys(models).length <= maxModels)
    .meta(expected(`1 to ${maxModels} models and their prices`)),
});

/** Reads a price list from YAML, or throws a `ConfigError` with a line for each issue. */
export function parsePrices(path: string, text: string): Prices {
  const { currency, models } = parseYamlFile(path, text, pricesFile).value;
  const entries = Object.entries(models).map(([name, { prompt, cached = prompt, completion }]) => {
    const prices: ModelPrices = { prompt, cached, completion };
    return [name, prices] as const;
  });
  return { currency, models: new Map(entries) };
}
