import { expect, test } from "bun:test";
import { configErrorLines } from "../../test/support/config-error-lines.ts";
import { parseDeployments } from "./files.ts";

const options = { raw: { SGLANG_KEY: "secret-of-sglang", BROKEN_KEY: "secret\n" }, timeoutMs: 120_000 };
const parse = (text: string) => parseDeployments("/etc/presage/deployments.yaml", text, options);

const linesOf = (text: string) => configErrorLines(() => parse(text));

const good = `default: qwen-wm
deployments:
  qwen-wm:
    replicas: [http://10.0.0.1:30000/v1, http://10.0.0.2:30000/v1/]
    model: Qwen/Qwen3-8B-wm        # what is sent
    api_key_env: SGLANG_KEY
    timeout_ms: 60000
    first_byte_timeout_ms: 5000
    max_in_flight_per_replica: 256
    fallback: gpt-wm
    cache: seeded
    control_tokens: accept
  gpt-wm: { replicas: [https://api.example.com/v1], model: gpt-6-mini }
`;

test("a file is read with its defaults, and keys come from the environment", () => {
  expect(parse(good)).toEqual({
    defaultName: "qwen-wm",
    deployments: [
      {
        name: "qwen-wm",
        urls: ["http://10.0.0.1:30000/v1", "http://10.0.0.2:30000/v1"],
        apiKey: "secret-of-sglang",
        model: "Qwen/Qwen3-8B-wm",
        timeoutMs: 60_000,
        firstByteTimeoutMs: 5_000,
        maxInFlightPerReplica: 256,
        fallback: "gpt-wm",
        cache: "seeded",
        controlTokens: "accept",
      },
      {
        name: "gpt-wm",
        urls: ["https://api.example.com/v1"],
        apiKey: undefined,
        model: "gpt-6-mini",
        timeoutMs: 120_000,
        firstByteTimeoutMs: 0,
        maxInFlightPerReplica: undefined,
        fallback: undefined,
        cache: "off",
        controlTokens: "fail",
      },
    ],
  });
});

test("every issue has a line with its place in the file", () => {
  const text = `default: other
deployments:
  a:
    replicas: []
    timeout_ms: 0
    colour: red
  b:
    replicas:
      - http://b/v1
      - ftp://b/v1
    max_in_flight_per_replica: "3"
    cache: "on"
  "c d": { replicas: [http://c/v1] }
  d: { model: m }
`;
  expect(linesOf(text)).toEqual([
    "deployments.yaml:4: deployments.a.replicas: expected a list of different http or https URLs without a user name, password or query",
    "deployments.yaml:5: deployments.a.timeout_ms: expected a whole number of milliseconds from 1 to 86400000",
    "deployments.yaml:6: deployments.a.colour: unknown key",
    "deployments.yaml:10: deployments.b.replicas.1: expected an http or https URL without a user name, password or query",
    "deployments.yaml:11: deployments.b.max_in_flight_per_replica: expected a whole number above 0",
    "deployments.yaml:12: deployments.b.cache: expected off, deterministic, seeded",
    "deployments.yaml:13: deployments.c d: expected a name of up to 64 letters, digits, dots, hyphens and underscores",
    "deployments.yaml:14: deployments.d.replicas: missing; expected a list of different http or https URLs without a user name, password or query",
  ]);
});

test("an issue says what belongs there: a deployment that is no map, a number as its name, a tag, a name that JavaScript takes for itself", () => {
  const start = "default: a\ndeployments:\n  a: { replicas: [http://a/v1] }\n";
  expect(linesOf(`${start}  b: null\n`)).toEqual([
    "deployments.yaml:4: deployments.b: expected a map of keys and values",
  ]);
  expect(linesOf(`${start}  1: { replicas: [ftp://b/v1] }\n`)).toEqual([
    "deployments.yaml:4: deployments.1.replicas.0: expected an http or https URL without a user name, password or query",
  ]);
  expect(linesOf(`${start}  b: !!binary aGk=\n`)).toEqual([
    "deployments.yaml:4: Unresolved tag: tag:yaml.org,2002:binary",
  ]);
  expect(linesOf(`${start}  __proto__: { replicas: [http://b/v1] }\n`)).toEqual([
    "deployments.yaml:4: __proto__: unknown key",
  ]);
});

test("a replica is listed once, however its URL is spelt", () => {
  for (const again of ["http://H/v1", "http://h:80/v1", "http://h/v1/"]) {
    const text = `default: a\ndeployments:\n  a: { replicas: ['http://h/v1', '${again}'] }\n`;
    expect(linesOf(text)).toEqual([
      "deployments.yaml:3: deployments.a.replicas: expected a list of different http or https URLs without a user name, password or query",
    ]);
  }
});

test("a replica's URL has no query or fragment, which would end up in front of the path", () => {
  const text = "default: a\ndeployments:\n  a: { replicas: ['http://a/v1?key=secret', 'http://b/v1#c'] }\n";
  expect(linesOf(text)).toEqual([
    "deployments.yaml:3: deployments.a.replicas.0: expected an http or https URL without a user name, password or query",
    "deployments.yaml:3: deployments.a.replicas.1: expected an http or https URL without a user name, password or query",
  ]);
});

test("a key that no header can carry is refused, and not shown", () => {
  const text = "default: a\ndeployments:\n  a: { replicas: [http://a/v1], api_key_env: BROKEN_KEY }\n";
  expect(linesOf(text)).toEqual([
    "deployments.yaml:3: deployments.a.api_key_env: the variable's value has characters that a header cannot carry, such as a line break",
  ]);
});

test("names must be those of deployments, variables must be set, and fallbacks must not lead back", () => {
  const text = `default: c
deployments:
  a:
    replicas: [http://a/v1]
    fallback: b
  b:
    replicas: [http://b/v1]
    fallback: a
    api_key_env: NOBODY_SET_THIS
  d: { replicas: [http://d/v1], fallback: nobody }
`;
  expect(linesOf(text)).toEqual([
    "deployments.yaml:1: default: there is no deployment of this name; there are a, b, d",
    "deployments.yaml:5: deployments.a.fallback: the fallbacks lead back to this deployment",
    "deployments.yaml:8: deployments.b.fallback: the fallbacks lead back to this deployment",
    "deployments.yaml:9: deployments.b.api_key_env: the environment has no such variable",
    "deployments.yaml:10: deployments.d.fallback: there is no deployment of this name; there are a, b, d",
  ]);
});

test("duplicate keys, aliases and broken YAML are refused with their line", () => {
  const start = "default: a\ndeployments:\n";
  expect(linesOf(`${start}  a: { replicas: [http://a/v1] }\n  a: { replicas: [http://b/v1] }\n`)).toEqual([
    "deployments.yaml:4: Map keys must be unique",
  ]);
  expect(linesOf(`${start}  a: &a { replicas: [http://a/v1] }\n  b: *a\n`)).toEqual([
    "deployments.yaml:4: aliases are not supported; write the value again",
  ]);
  expect(linesOf(`${start}  a: { replicas: [http://a/v1]\n`)[0]).toStartWith("deployments.yaml:");
  expect(linesOf("")).toEqual(["deployments.yaml:1: expected a map of keys and values"]);
  expect(linesOf("- a\n")).toEqual(["deployments.yaml:1: expected a map of keys and values"]);
});

test("no line quotes a value, since it may be a key in the wrong place", () => {
  const secret = "sk-0123456789abcdef";
  const text = `default: a
deployments:
  a:
    replicas: [http://user:${secret}@a/v1]
    api_key_env: ${secret}
    model: [${secret}]
    fallback: ${secret}
`;
  const lines = linesOf(text);
  expect(lines.length).toBeGreaterThanOrEqual(3);
  expect(lines.join("\n")).not.toContain(secret);
});
