import type { Operation } from "../document/read-document.ts";
import type { Draw } from "./draw.ts";
import { instanceOf, type Source } from "./instance-of.ts";
import { type Caller, type Plan, usualHost } from "./plan.ts";
import { writeJson } from "./raw-json.ts";
import { reference } from "./references.ts";

const callers: readonly Caller[] = [
  ...Array<Caller>(14).fill("owner"),
  "session",
  "session",
  "made",
  "stranger",
  "stranger",
];

/** A request that matches the document. */
export function drawBasePlan(draw: Draw, operation: Operation, source: Source): Plan {
  const drawn = (place: string): [string, string][] =>
    operation.parameters
      .filter((parameter) => parameter.in === place && (parameter.required || draw.chance(0.25)))
      .map(({ name, schema }) => [
        name,
        isEpisode(operation, name) && draw.chance(0.8)
          ? reference(draw, "episode")
          : asText(instanceOf(schema, draw, source, name)),
      ]);
  return {
    operation,
    method: operation.method,
    // As they are, these would end the path, which may be another operation's then.
    pathParameters: Object.fromEntries(
      drawn("path").map(([name, value]) => [name, value.replaceAll(/[?#]/g, encodeURIComponent)]),
    ),
    pathSuffix: "",
    query: drawn("query"),
    querySuffix: "",
    headers: drawn("header").map(([name, value]) => [name, asFieldValue(value)]),
    caller: draw.pick(callers),
    callerNumber: draw.below(1_000_000),
    isBearer: draw.chance(0.2),
    body: operation.body === undefined ? undefined : instanceOf(operation.body, draw, source),
    textMutations: [],
    encoding: "identity",
    framing: "length",
    version: "1.1",
    host: usualHost,
    allows: [],
    mayBeUnknown: false,
    isMalformed: false,
  };
}

/** Its parameter says no more than `id`. */
function isEpisode({ path }: Operation, name: string): boolean {
  return name === "id" && path.startsWith("/v1/episodes/{id}");
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return writeJson(value);
}

/** The UTF-8 bytes of a text, one a character. A server need not read a head that has control characters. */
function asFieldValue(text: string): string {
  return Buffer.from(text.replaceAll(/\p{Cc}/gu, "")).toString("latin1");
}
