import { z } from "zod";
import { controlTokenRules, type DeploymentSettings } from "../upstream/deployments.ts";
import { cachePolicies } from "./environment.ts";
import {
  areDifferentUrls,
  expectedNumber,
  httpUrl,
  oneOf,
  type RawEnvironment,
  unlimited,
} from "./environment-values.ts";
import { type FileIssue, type Path, parseYamlFile, type YamlFile } from "./yaml-file.ts";

const dayMs = 86_400_000;
/** As a header's value and as a model's name. */
const name = z.string().regex(/^[a-zA-Z0-9][\w.-]{0,63}$/);
const expected = (text: string) => ({ expected: text });
const wholeNumber = (lowest: number, highest: number, unit?: string) =>
  z
    .int()
    .min(lowest)
    .max(highest)
    .meta(expected(expectedNumber(lowest, highest, unit)));
const expectedUrls = "a list of different http or https URLs without user name, password and query";

const deployment = z.strictObject({
  replicas: z.array(httpUrl).min(1).refine(areDifferentUrls).meta(expected(expectedUrls)),
  model: z.string().min(1).optional().meta(expected("text")),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_]\w*$/)
    .optional()
    .meta(expected("the name of the environment variable that holds the key")),
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
    .record(
      name.meta(expected("a name of up to 64 letters, digits, dots, hyphens and underscores")),
      deployment,
    )
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
  const parsed = parseYamlFile(path, text, file, schemaAt);
  parsed.refuse(findContradictions(parsed, raw));
  return toSettings(parsed.value, raw, timeoutMs);
}

/** The schema of this place of the file. */
function schemaAt(path: Path, part: "key" | "value"): z.ZodType {
  if (part === "key") return file.shape.deployments.keyType;
  const [top, , field, item] = path;
  if (top === "default") return file.shape.default;
  if (top !== "deployments" || path.length < 2) return top === undefined ? file : file.shape.deployments;
  const shape: Readonly<Record<string, z.ZodType>> = deployment.shape;
  if (item !== undefined) return deployment.shape.replicas.element;
  return shape[String(field)] ?? deployment;
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
      controlTokens: given.control_tokens,
    })),
  };
}
