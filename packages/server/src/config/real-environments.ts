import { z } from "zod";
import { compilePattern } from "../platform/patterns.ts";
import { isObject } from "../platform/words.ts";
import {
  isPlaceholder,
  placeholdersOf,
  type RealEnvironmentSettings,
  realProtocols,
  type Template,
} from "../reality/real/real-environment.ts";
import {
  apiKeyVariable,
  expected,
  expectedName,
  type FileIssue,
  findFaultOfKey,
  name,
  type Path,
  parseYamlFile,
  wholeNumber,
  type YamlFile,
} from "./files.ts";
import { httpUrl, oneOf, type RawEnvironment, unlimited } from "./values.ts";

/** Servers of the Open Reward Standard forget a session after 15 minutes. */
const longestMs = 600_000;
const someText = z.string().min(1);

const environment = z.strictObject({
  protocol: oneOf(realProtocols),
  url: httpUrl,
  environment: someText.nullish().meta(expected("the environment's name on that server")),
  api_key_env: apiKeyVariable.nullish(),
  reset: z.json().optional().meta(expected("what reset is sent, as JSON can hold it")),
  action: z.json().optional().meta(expected("what a step is sent, as JSON can hold it")),
  observation: z
    .string()
    .regex(/^[^.\s]+(\.[^.\s]+)*$/)
    .nullish()
    .meta(expected("the path of the text in the observation, with dots between its fields")),
  success: z
    .union([
      z.strictObject({ reward_at_least: z.number() }),
      z.strictObject({ done_reward_at_least: z.number() }),
      z.strictObject({ output_contains: someText }),
      z.strictObject({ output_matches: someText }),
    ])
    .default({ reward_at_least: 1 })
    .meta(
      expected(
        "one of reward_at_least and done_reward_at_least with a number, output_contains and output_matches with a text",
      ),
    ),
  timeout_ms: wholeNumber(1, longestMs, "milliseconds").default(30_000),
  max_in_flight: wholeNumber(1, unlimited).default(4),
});

const file = z.strictObject({
  environments: z
    .record(name.meta(expectedName), environment)
    .refine((named) => Object.keys(named).length > 0)
    .meta(expected("at least one environment")),
});

type Entry = z.output<typeof environment>;

/** Sent if the file does not say otherwise. */
const templates: Record<Entry["protocol"], { reset: Template; action: Template }> = {
  openenv: { reset: {}, action: { message: "{action}" } },
  ors: { reset: "{metadata}", action: { tool: "act", input: { action: "{action}" } } },
  http: { reset: { task: "{task}" }, action: { action: "{action}" } },
};

/** Reads the real environments from YAML, or throws a `ConfigError` with a line for each issue. */
export function parseRealEnvironments(
  path: string,
  text: string,
  raw: RawEnvironment,
): RealEnvironmentSettings[] {
  const parsed = parseYamlFile(path, text, file);
  parsed.refuse(findFaults(parsed, raw));
  return Object.entries(parsed.value.environments).map(([own, given]) => ({
    name: own,
    protocol: given.protocol,
    url: given.url,
    environment: given.environment ?? undefined,
    apiKey: given.api_key_env ? raw[given.api_key_env] : undefined,
    observation: given.observation ?? undefined,
    success: given.success,
    timeoutMs: given.timeout_ms,
    maxInFlight: given.max_in_flight,
    ...templatesOf(given),
  }));
}

function templatesOf({ protocol, reset, action }: Entry): { reset: Template; action: Template } {
  const usual = templates[protocol];
  return { reset: reset ?? usual.reset, action: action ?? usual.action };
}

/** Faults that the schema cannot express. */
function findFaults({ value, issueAt }: YamlFile<z.output<typeof file>>, raw: RawEnvironment): FileIssue[] {
  return Object.entries(value.environments).flatMap(([own, given]) => {
    const faults: [Path, string | undefined][] = [
      [["api_key_env"], given.api_key_env ? findFaultOfKey(raw[given.api_key_env]) : undefined],
      [["environment"], given.protocol === "openenv" || given.environment ? undefined : nameless],
      [["success", "output_matches"], findFaultOfPattern(given.success)],
      ...(["reset", "action"] as const).map((place): [Path, string | undefined] => [
        [place],
        findFaultOfTemplate(templatesOf(given)[place], place, given.protocol),
      ]),
    ];
    return faults.flatMap(([place, fault]) =>
      fault === undefined ? [] : [issueAt(["environments", own, ...place], fault)],
    );
  });
}

type Place = "reset" | "action";

const ofTask = "{task}, {initial_state}, {prompt}, {goal}, {context.NAME} and {metadata.NAME}";
const expectedPlaceholders: Record<Place, string> = {
  reset: `expected no placeholders but ${ofTask}`,
  action: `expected no placeholders but {action}, ${ofTask}`,
};
const nameless = "missing; expected the environment's name on that server";

function findFaultOfPattern(success: Entry["success"]): string | undefined {
  if (!("output_matches" in success)) return undefined;
  try {
    compilePattern(success.output_matches);
  } catch {
    return "expected a pattern in RE2's syntax";
  }
}

function findFaultOfTemplate(template: Template, place: Place, protocol: Entry["protocol"]) {
  if (!placeholdersOf(template).every((path) => isPlaceholder(path, place)))
    return expectedPlaceholders[place];
  const isMap = isObject(template);
  if (protocol === "ors" && place === "action" && !(isMap && "tool" in template && "input" in template))
    return "expected a map of tool and input";
  if (protocol === "http" && !isMap) return "expected a map of keys and values";
}
