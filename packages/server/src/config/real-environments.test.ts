import { expect, test } from "bun:test";
import { configErrorLines } from "../../test/support/config-error-lines.ts";
import { parseRealEnvironments } from "./real-environments.ts";

const key = "hidden-key";
const parse = (text: string) =>
  parseRealEnvironments("/etc/presage/real.yaml", text, { LAB_KEY: key, EMPTY: "" });
const linesOf = (text: string) => configErrorLines(() => parse(text));

test("each environment has what its protocol usually is sent, unless the file says otherwise", () => {
  const text = `environments:
  scienceworld:
    protocol: openenv
    url: http://10.0.0.5:8000/
    environment: null
    api_key_env: null
    reset: { task: "{metadata.task}", variation: "{metadata.variation}" }
    observation: prompt
    success: { done_reward_at_least: 100 }
  lab: { protocol: ors, url: "https://lab.example.com", environment: kitchen, api_key_env: LAB_KEY, timeout_ms: 5, max_in_flight: 9 }
  other: { protocol: http, url: "http://[::1]:8080", environment: sandbox, success: { output_matches: "won|done" } }
`;
  const usual = {
    environment: undefined,
    apiKey: undefined,
    observation: undefined,
    success: { reward_at_least: 1 },
  };
  expect(parse(text)).toEqual([
    {
      ...usual,
      name: "scienceworld",
      protocol: "openenv",
      url: "http://10.0.0.5:8000",
      reset: { task: "{metadata.task}", variation: "{metadata.variation}" },
      action: { message: "{action}" },
      observation: "prompt",
      success: { done_reward_at_least: 100 },
      timeoutMs: 30_000,
      maxInFlight: 4,
    },
    {
      ...usual,
      name: "lab",
      protocol: "ors",
      url: "https://lab.example.com",
      environment: "kitchen",
      apiKey: key,
      reset: "{metadata}",
      action: { tool: "act", input: { action: "{action}" } },
      timeoutMs: 5,
      maxInFlight: 9,
    },
    {
      ...usual,
      name: "other",
      protocol: "http",
      url: "http://[::1]:8080",
      environment: "sandbox",
      reset: { task: "{task}" },
      action: { action: "{action}" },
      success: { output_matches: "won|done" },
      timeoutMs: 30_000,
      maxInFlight: 4,
    },
  ]);
});

test("every issue has a line with its place in the file, and quotes no value", () => {
  const text = `environments:
  a:
    protocol: grpc
    url: http://user:hidden@10.0.0.5
    observation: "a..b"
    success: { reward_at_least: 1, output_contains: hidden }
    timeout_ms: 600001
    max_in_flight: 0
    key: hidden
  b:
    protocol: openenv
    url: http://10.0.0.5
    api_key_env: EMPTY
    reset: { task: "{metadata.task} {hidden}", action: "{action}" }
    action: ["{goal.hidden}"]
    success: { output_matches: "(hidden" }
  c: { protocol: ors, url: "http://10.0.0.5", action: { name: hidden } }
  d: { protocol: http, url: "http://10.0.0.5", environment: e, reset: "{task}" }
  "e e": { protocol: ors }
`;
  const lines = linesOf(text);
  expect(lines.join()).not.toContain("hidden");
  expect(lines).toEqual([
    "real.yaml:3: environments.a.protocol: expected openenv, ors, http",
    "real.yaml:4: environments.a.url: expected an http or https URL without a user name, password or query",
    "real.yaml:5: environments.a.observation: expected the path of the text in the observation, with dots between its fields",
    "real.yaml:6: environments.a.success: expected one of reward_at_least and done_reward_at_least with a number, output_contains and output_matches with a text",
    "real.yaml:7: environments.a.timeout_ms: expected a whole number of milliseconds from 1 to 600000",
    "real.yaml:8: environments.a.max_in_flight: expected a whole number above 0",
    "real.yaml:9: environments.a.key: unknown key",
    "real.yaml:19: environments.e e: expected a name of up to 64 letters, digits, dots, hyphens and underscores",
  ]);
  const inTurn = text.replace(/ {2}a:\n( {4}.*\n)+/, "").replace(/ {2}"e e".*\n/, "");
  const ofTask = "{task}, {initial_state}, {prompt}, {goal}, {context.NAME} and {metadata.NAME}";
  expect(linesOf(inTurn)).toEqual([
    "real.yaml:5: environments.b.api_key_env: the environment has no such variable",
    `real.yaml:6: environments.b.reset: expected no placeholders but ${ofTask}`,
    `real.yaml:7: environments.b.action: expected no placeholders but {action}, ${ofTask}`,
    "real.yaml:8: environments.b.success.output_matches: expected a pattern in RE2's syntax",
    "real.yaml:9: environments.c.environment: missing; expected the environment's name on that server",
    "real.yaml:9: environments.c.action: expected a map of tool and input",
    "real.yaml:10: environments.d.reset: expected a map of keys and values",
  ]);
  expect(linesOf("environments: {}")).toEqual([
    "real.yaml:1: environments: expected at least one environment",
  ]);
});
