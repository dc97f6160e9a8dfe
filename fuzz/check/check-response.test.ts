import { expect, test } from "bun:test";
import { openApiDocument } from "../../packages/server/src/app/operations.ts";
import { compileResponseSchemas, listOperations } from "../document.ts";
import { createDraw } from "../generate/draw.ts";
import { drawBasePlan } from "../generate/make-request.ts";
import type { Plan } from "../generate/plan.ts";
import { checkResponse } from "./check-response.ts";

const document = listOperations(JSON.parse(JSON.stringify(await openApiDocument())));
const rules = { schemas: compileResponseSchemas(document), isUpstreamFaulty: false, secrets: ["a-secret"] };
const served = { evaluators: ["e"], families: [{ name: "f", configSchema: {} }], profileNames: ["p"] };

function planOf(id: string): Plan {
  const operation = document.operations.find((candidate) => candidate.id === id);
  if (operation === undefined) throw new Error(`The document has no operation ${id}.`);
  const source = { schemas: document.schemas, served, arbitraries: new Map() };
  return { ...drawBasePlan(createDraw(1, 1), operation, source), caller: "owner" };
}

function check(plan: Plan, status: number, body: unknown, headers: Record<string, string> = {}): string[] {
  const all = { "content-type": "application/json", "x-request-id": "1", ...headers };
  const text = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const response = { status, headers: new Map(Object.entries(all)), body: text };
  return checkResponse(plan, response, rules).map(({ what }) => what);
}

test("a response that matches the document has no violations", () => {
  expect(check(planOf("getHealth"), 200, { status: "ok" })).toEqual([]);
  expect(
    check(
      planOf("listApiKeys"),
      200,
      { data: [], next: null },
      { "content-type": "application/json; charset=utf-8" },
    ),
  ).toEqual([]);
  expect(
    check(planOf("predict"), 422, {
      detail: [{ type: "missing", loc: ["body"], msg: "Field required" }],
    }),
  ).toEqual([]);
});

test("each mismatch with the document is a violation", () => {
  const health = planOf("getHealth");
  const [mismatch] = check(health, 200, { status: 1 });
  expect(mismatch).toStartWith("200 breaks its schema: /status must be string");
  expect(check(planOf("predict"), 422, { detail: "wrong" })[0]).toStartWith("422 breaks its schema");
  expect(check(health, 200, "{")).toEqual(["200 with a body that is not JSON"]);
  expect(check(health, 200, "{}", { "content-type": "text/plain" })[0]).toStartWith("200 of type text/plain");
  expect(check(health, 404, { detail: "no" })).toEqual(["404 that the document does not list"]);
  expect(check(health, 500, { detail: "no" })).toEqual(["500 without a cause"]);
  expect(check(health, 200, { status: "a-secret" })).toEqual(["200 with a secret in its body"]);
  const unavailable = check(planOf("getMe"), 503, { detail: "no" });
  expect(unavailable).toEqual(["503 without a cause", "503 without Retry-After"]);
  const refused = check(planOf("getMe"), 401, { detail: "no" }, { "www-authenticate": "Bearer" });
  expect(refused).toEqual(["a valid key is refused with 401"]);
});

test("another method may be refused, and invalid HTTP may be refused by Bun", () => {
  const plan = { ...planOf("getMe"), method: "PUT", allows: [405] };
  expect(check(plan, 405, { detail: "no" }, { allow: "GET" })).toEqual([]);
  expect(check(plan, 405, { detail: "no" })).toEqual(["405 without Allow"]);
  const response = { status: 400, headers: new Map<string, string>(), body: Buffer.alloc(0) };
  expect(checkResponse({ ...plan, isMalformed: true }, response, rules)).toEqual([]);
});
