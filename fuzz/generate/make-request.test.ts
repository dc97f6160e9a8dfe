import { expect, test } from "bun:test";
import { openApiDocument } from "../../packages/server/src/app/operations.ts";
import { listOperations } from "../document.ts";
import { writeRequest } from "../send/request.ts";
import { applyMutations, createRequestMaker } from "./make-request.ts";

const document = listOperations(JSON.parse(JSON.stringify(await openApiDocument())));
const served = {
  evaluators: ["exact-match"],
  families: [{ name: "exact-match", configSchema: { type: "object" } }],
  profileNames: ["system:default"],
};

function requestsOf(seed: number, indexes: number[]): string[] {
  const makeRequest = createRequestMaker(seed, document, served);
  return indexes.map((index) => {
    const { base, mutations } = makeRequest(index);
    const context = { resolve: (text: string) => text, credentials: [], ownKey: "" };
    return writeRequest(applyMutations(base, mutations), `fuzz-${index}`, context).bytes.toString("latin1");
  });
}

test("a seed makes the same requests in any order", () => {
  const indexes = Array.from({ length: 100 }, (_, index) => index);
  const requests = requestsOf(1, indexes);
  expect(requestsOf(1, indexes.toReversed()).toReversed()).toEqual(requests);
  expect(new Set(requests).size).toBeGreaterThan(95);
  expect(requestsOf(2, indexes)).not.toEqual(requests);
});

test("a few thousand requests cover every operation of the document", () => {
  const makeRequest = createRequestMaker(1, document, served);
  const requested = new Set(
    Array.from({ length: 5_000 }, (_, index) => makeRequest(index).base.operation.id),
  );
  expect([...requested].sort()).toEqual(document.operations.map(({ id }) => id).sort());
});
