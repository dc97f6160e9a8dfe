import { z } from "zod";
import {
  isCountedModelName,
  type ModelPrices,
  maxModelNameCharacters,
  type Prices,
} from "../platform/prices.ts";
import { controlTokenRules, type DeploymentSettings } from "../upstream/deployments.ts";
import { cachePolicies } from "./environment.ts";
import { areDifferentUrls, httpUrl, oneOf, type RawEnvironment, unlimited } from "./values.ts";
import {
  apiKeyVariable,
  dayMs,
  expected,
  expectedName,
  type FileIssue,
  findFaultOfKey,
  name,
  parseYamlFile,
  wholeNumber,
  type YamlFile,
} from "./yaml-file.ts";

const expectedUrls = "a list of different http or https URLs without user name, password and query";

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

/** Usage is read by the names of all of them. */
const maxModels = 1_000;
/** Far above any price, and any number of tokens times it is finite. */
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
