import { basename } from "node:path";
import { type Document, isAlias, isMap, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { z } from "zod";
import { ConfigError, type RawEnvironment } from "./config.ts";
import { cachePolicies } from "./environment.ts";
import { areDifferentUrls, httpUrl } from "./environment-values.ts";
import type { DeploymentSettings } from "./upstream/deployments/create-deployments.ts";

const dayMs = 86_400_000;
/** As a header's value and as a model's name. */
const name = z.string().regex(/^[a-zA-Z0-9][\w.-]{0,63}$/);
const wholeNumber = (lowest: number, highest: number) => z.int().min(lowest).max(highest);
const expected = (text: string) => ({ expected: text });
const expectedUrls = "a list of different http or https URLs without user name, password and query";

const deployment = z.strictObject({
  replicas: z
    .array(httpUrl.meta(expected("an http or https URL without user name, password and query")))
    .min(1)
    .refine(areDifferentUrls)
    .meta(expected(expectedUrls)),
  model: z.string().min(1).optional().meta(expected("text")),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_]\w*$/)
    .optional()
    .meta(expected("the name of the environment variable that holds the key")),
  timeout_ms: wholeNumber(1, dayMs)
    .optional()
    .meta(expected(`a whole number of milliseconds from 1 to ${dayMs}`)),
  first_byte_timeout_ms: wholeNumber(0, dayMs)
    .default(0)
    .meta(expected(`a whole number of milliseconds from 0 to ${dayMs}; 0 for none`)),
  max_in_flight_per_replica: wholeNumber(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .meta(expected("a whole number above 0")),
  fallback: name.optional().meta(expected("the name of another deployment")),
  cache: z
    .enum(cachePolicies)
    .default("off")
    .meta(expected(cachePolicies.join(", "))),
});

const file = z.strictObject({
  default: name.meta(expected("the name of a deployment")),
  deployments: z
    .record(
      name.meta(expected("a name of up to 64 letters, digits, dots, hyphens and underscores")),
      deployment,
    )
    .refine((named) => Object.keys(named).length > 0)
    .meta(expected("at least one deployment")),
});
type DeploymentsFile = z.output<typeof file>;

type Path = readonly PropertyKey[];
interface FileIssue {
  offset: number;
  text: string;
}

/**
 * Reads the deployments from YAML, or throws a `ConfigError` with a line for each issue: file, line, place and what was expected. It
 * quotes no values, since one may be a key in the wrong place.
 */
export function parseDeployments(
  path: string,
  text: string,
  { raw, timeoutMs }: { raw: RawEnvironment; timeoutMs: number },
): DeploymentSettings {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    resolveKnownTags: false,
  });
  const refuseIssues = (issues: readonly FileIssue[]) => {
    if (issues.length === 0) return;
    const sorted = issues.toSorted((one, other) => one.offset - other.offset);
    const lineOf = ({ offset }: FileIssue) => Math.max(1, lines.linePos(offset).line);
    throw new ConfigError(sorted.map((issue) => `${basename(path)}:${lineOf(issue)}: ${issue.text}`));
  };
  refuseIssues([
    ...[...document.errors, ...document.warnings].map(({ pos, message }) => ({
      offset: pos[0],
      text: message,
    })),
    ...unsupportedIn(document),
  ]);
  const value: unknown = document.toJS();
  const parsed = file.safeParse(value);
  if (!parsed.success) {
    refuseIssues(parsed.error.issues.flatMap((issue) => describe(document, value, issue)));
    throw new ConfigError([`${basename(path)}: it is not valid`]);
  }
  refuseIssues(findContradictions(parsed.data, document, raw));
  return toSettings(parsed.data, raw, timeoutMs);
}

/** What the schema does not see. */
function unsupportedIn(document: Document): FileIssue[] {
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

function describe(document: Document, value: unknown, issue: z.core.$ZodIssue): FileIssue[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => at(document, [...issue.path, key], "unknown key"));
  }
  const schema = issue.code === "invalid_key" ? file.shape.deployments.keyType : schemaAt(issue.path);
  const expectation = z.globalRegistry.get(schema)?.expected ?? "a map of keys and values";
  const isMissing = issue.code !== "invalid_key" && valueAt(value, issue.path) === undefined;
  return [at(document, issue.path, `${isMissing ? "missing; " : ""}expected ${expectation}`)];
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((holder, key) => Object(holder)[key], value);
}

/** The schema of the value at this place of the file. */
function schemaAt(path: Path): z.ZodType {
  const [top, , field, item] = path;
  if (top === "default") return file.shape.default;
  if (top !== "deployments" || path.length < 2) return top === undefined ? file : file.shape.deployments;
  const shape: Readonly<Record<string, z.ZodType>> = deployment.shape;
  if (item !== undefined) return deployment.shape.replicas.element;
  return shape[String(field)] ?? deployment;
}

/** The issue at the key of this place or, where there is none, at what should have it. */
function at(document: Document, path: Path, text: string): FileIssue {
  const place = path.map(String).join(".");
  return { offset: offsetOf(document, path), text: place === "" ? text : `${place}: ${text}` };
}

function offsetOf(document: Document, path: Path): number {
  if (path.length === 0) return document.contents?.range?.[0] ?? 0;
  const holder = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const key = path.at(-1);
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
  return typeof node === "object" && node !== null && "range" in node && !isAlias(node);
}

/** What the schema cannot express: names that refer to others, and variables that are not set. */
function findContradictions(
  { default: defaultName, deployments }: DeploymentsFile,
  document: Document,
  raw: RawEnvironment,
): FileIssue[] {
  const issues: FileIssue[] = [];
  const names = Object.keys(deployments).join(", ");
  if (!Object.hasOwn(deployments, defaultName))
    issues.push(at(document, ["default"], `there is no deployment of this name; there are ${names}`));
  for (const [own, { fallback, api_key_env: variable }] of Object.entries(deployments)) {
    const place = ["deployments", own];
    const faultOfKey = variable === undefined ? undefined : findFaultOfKey(raw[variable]);
    if (faultOfKey !== undefined) issues.push(at(document, [...place, "api_key_env"], faultOfKey));
    if (fallback === undefined) continue;
    if (!Object.hasOwn(deployments, fallback))
      issues.push(
        at(document, [...place, "fallback"], `there is no deployment of this name; there are ${names}`),
      );
    else if (leadsBack(deployments, own))
      issues.push(at(document, [...place, "fallback"], "the fallbacks lead back to this deployment"));
  }
  return issues;
}

function findFaultOfKey(apiKey: string | undefined): string | undefined {
  if (!apiKey) return "the environment has no such variable";
  if (/^[\x20-\x7e]+$/.test(apiKey)) return undefined;
  return "the variable's value has characters that a header cannot carry, such as a line break";
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
    })),
  };
}
