import type { Document, Operation } from "../document.ts";
import { createDraw, type Draw, reference, writeJson } from "./draw.ts";
import { instanceOf, type Source } from "./instance-of.ts";
import { drawValueMutation } from "./mutate-value.ts";
import * as addresses from "./odd-request.ts";
import * as heads from "./odd-request.ts";
import { type Caller, drawTextMutation, type Mutation, type Plan, usualHost } from "./plan.ts";
import { collectLimits, type Served } from "./vocabulary.ts";

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
    // A path without a value would be another operation's.
    pathParameters: Object.fromEntries(
      drawn("path").map(([name, value]) => [name, encodeURIComponent(value.toWellFormed()) || "_"]),
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

/** Whether the parameter is an episode's id: its name is only `id`. */
function isEpisode({ path }: Operation, name: string): boolean {
  return name === "id" && path.startsWith("/v1/episodes/{id}");
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return writeJson(value);
}

/** A text's UTF-8 bytes, one per character. A server need not read a head that contains control characters. */
function asFieldValue(text: string): string {
  return Buffer.from(text.replaceAll(/\p{Cc}/gu, "")).toString("latin1");
}

/** A valid request and the mutations to apply to it. */
export interface FuzzRequest {
  index: number;
  base: Plan;
  mutations: Mutation[];
}

export type MakeRequest = (index: number) => FuzzRequest;

/** Operations without a body or parameters offer little to vary. */
const weightOf = ({ body, parameters }: Operation) =>
  body === undefined ? (parameters.length > 0 ? 3 : 1) : 6;

/** Makes the requests of a seed. A request depends only on the seed, its index and the document. */
export function createRequestMaker(seed: number, document: Document, served: Served): MakeRequest {
  const { operations, schemas } = document;
  const source = { schemas, served, arbitraries: new Map() };
  const weighted = operations.flatMap((operation) => Array<Operation>(weightOf(operation)).fill(operation));
  const limits = collectLimits(document);
  return (index) => {
    const draw = createDraw(seed, index);
    const base = drawBasePlan(draw, draw.pick(weighted), source);
    const count = draw.pick([0, 0, 1, 1, 1, 1, 2, 2, 3]);
    const mutations = Array.from({ length: count }, () => drawMutation(draw, base, operations, limits));
    return { index, base, mutations };
  };
}

export function applyMutations(base: Plan, mutations: readonly Mutation[]): Plan {
  return mutations.reduce((plan, mutation) => mutation.apply(plan), base);
}

function drawMutation(
  draw: Draw,
  base: Plan,
  operations: readonly Operation[],
  limits: readonly number[],
): Mutation {
  const hasBody = base.operation.body !== undefined;
  const hasPath = Object.keys(base.pathParameters).length > 0;
  const hasQuery = base.operation.parameters.some((parameter) => parameter.in === "query");
  const choices: [weight: number, make: () => Mutation][] = [
    [hasBody ? 60 : 0, () => oddBody(draw, limits)],
    [hasBody ? 12 : 0, () => oddText(draw)],
    [hasBody ? 4 : 0, () => oddTransfer(draw)],
    [hasPath ? 25 : 0, () => addresses.oddPathParameter(draw)],
    [hasQuery ? 60 : 2, () => addresses.oddQueryValue(draw, limits)],
    [hasQuery ? 10 : 2, () => addresses.oddQuerySuffix(draw)],
    [10, () => heads.oddHeader(draw)],
    [4, () => heads.oddCredential(draw)],
    [1, () => heads.credentialTwice()],
    [4, () => heads.oddMethod(draw, operations)],
    [2, () => addresses.oddPathSuffix(draw)],
    [1, () => heads.manyHeaders(draw)],
    [1, () => heads.malformedHead(draw)],
    [1, () => heads.oddHost(draw)],
    [1, () => ({ name: "HTTP/1.0", apply: (plan) => ({ ...plan, version: "1.0" }) })],
    [hasBody ? 0 : 2, () => ({ name: "unexpected body", apply: (plan) => ({ ...plan, body: { a: 1 } }) })],
  ];
  let left = draw.below(choices.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, make] of choices) {
    if (left < weight) return make();
    left -= weight;
  }
  throw new Error("No choice was drawn.");
}

function oddBody(draw: Draw, limits: readonly number[]): Mutation {
  const mutate = drawValueMutation(draw, limits);
  return { name: "body", apply: (plan) => ({ ...plan, body: mutate(plan.body) }) };
}

function oddText(draw: Draw): Mutation {
  const text = drawTextMutation(draw);
  return {
    name: text.name,
    apply: (plan) => ({ ...plan, textMutations: [...plan.textMutations, text] }),
  };
}

function oddTransfer(draw: Draw): Mutation {
  const framing = draw.pick(["chunks", "small chunks"] as const);
  const encoding = draw.pick(["identity", "gzip", "deflate", "br", "zstd"] as const);
  return { name: `${framing}, ${encoding}`, apply: (plan) => ({ ...plan, framing, encoding }) };
}
