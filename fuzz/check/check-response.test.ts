import { expect, test } from "bun:test";
import { openApiDocument } from "../../packages/server/src/http/resources/docs/document.ts";
import { compileAnswers } from "../document/compile-response-schemas.ts";
import { listOperations } from "../document/read-document.ts";
import { drawBasePlan } from "../generate/base-plan.ts";
import { createDraw } from "../generate/draw.ts";
import type { Plan } from "../generate/plan.ts";
import { checkAnswer } from "./check-response.ts";

const document = listOperations(JSON.parse(JSON.stringify(openApiDocument())));
const rules = { schemas: compileAnswers(document), isUpstreamFaulty: false, secrets: ["a-secret"] };
const served = { evaluators: ["e"], families: [{ name: "f", configSchema: {} }], profileNames: ["p"] };

function planOf(id: string): Plan {
  const operation = document.operations.find((candidate) => candidate.id === id);
  if (operation === undefined) throw new Error(`The document has no operation ${id}.`);
  const source = { schemas: document.schemas, served, arbitraries: new Map() };
  return { ...drawBasePlan(createDraw(1, 1), operation, source), caller: "owner" };
}

function faultsOf(plan: Plan, status: number, body: unknown, headers: Record<string, string> = {}): string[] {
  const all = { "content-type": "application/json", "x-request-id": "1", ...headers };
  const text = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const answer = { status, headers: new Map(Object.entries(all)), body: text };
  return checkAnswer(plan, answer, rules).map(({ what }) => what);
}

test("an answer that keeps to the document has no fault", () => {
  expect(faultsOf(planOf("getHealth"), 200, { status: "ok" })).toEqual([]);
  expect(
    faultsOf(
      planOf("listApiKeys"),
      200,
      { data: [], next: null },
      { "content-type": "application/json; charset=utf-8" },
    ),
  ).toEqual([]);
  expect(
    faultsOf(planOf("predict"), 422, { detail: [{ type: "missing", loc: ["body"], msg: "Field required" }] }),
  ).toEqual([]);
});

test("each way of not keeping to it is a fault", () => {
  const health = planOf("getHealth");
  const [schemaFault] = faultsOf(health, 200, { status: 1 });
  expect(schemaFault).toStartWith("200 breaks its schema: /status must be string");
  expect(faultsOf(planOf("predict"), 422, { detail: "wrong" })[0]).toStartWith("422 breaks its schema");
  expect(faultsOf(health, 200, "{")).toEqual(["200 with a body that is not JSON"]);
  expect(faultsOf(health, 200, "{}", { "content-type": "text/plain" })[0]).toStartWith(
    "200 of type text/plain",
  );
  expect(faultsOf(health, 404, { detail: "no" })).toEqual(["404 that the document does not name"]);
  expect(faultsOf(health, 500, { detail: "no" })).toEqual(["500 that was not asked for"]);
  expect(faultsOf(health, 200, { status: "a-secret" })).toEqual(["200 with a secret in its body"]);
  const unavailable = faultsOf(planOf("getMe"), 503, { detail: "no" });
  expect(unavailable).toEqual(["503 that was not asked for", "503 without Retry-After"]);
  const refused = faultsOf(planOf("getMe"), 401, { detail: "no" }, { "www-authenticate": "Bearer" });
  expect(refused).toEqual(["a good key is refused with 401"]);
});

test("another method may be refused, and what is no HTTP may be refused by somebody else", () => {
  const plan = { ...planOf("getMe"), method: "PUT", allows: [405] };
  expect(faultsOf(plan, 405, { detail: "no" }, { allow: "GET" })).toEqual([]);
  expect(faultsOf(plan, 405, { detail: "no" })).toEqual(["405 without Allow"]);
  const answer = { status: 400, headers: new Map<string, string>(), body: Buffer.alloc(0) };
  expect(checkAnswer({ ...plan, isMalformed: true }, answer, rules)).toEqual([]);
});
