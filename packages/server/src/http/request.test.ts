import { expect, test } from "bun:test";
import { ChatCompletionRequest, deprecated } from "@presage/contract";
import { z } from "zod";
import { readJsonBody, usesOldNames } from "./request.ts";

const maxBodyBytes = 2_000_000;
const requestOf = (text: string) =>
  new Request("http://here.example", { method: "POST", body: JSON.stringify({ text }) });

test("A long body is read in its turn, which ends when it has been read or refused", async () => {
  const long = "x".repeat(1_000_000);
  for (const request of [
    requestOf(long),
    new Request("http://here.example", { method: "POST", body: long }),
  ]) {
    const said: string[] = [];
    const turn = Promise.withResolvers<() => void>();
    const asked = Promise.withResolvers<void>();
    const reading = readJsonBody(request, maxBodyBytes, undefined, () => {
      asked.resolve();
      return turn.promise;
    }).then(
      () => said.push("read"),
      () => said.push("refused"),
    );
    await asked.promise;
    expect(said).toEqual([]);
    turn.resolve(() => said.push("end of turn"));
    await reading;
    expect(said).toEqual(["end of turn", expect.any(String)]);
  }
});

test("A short body waits for nobody", async () => {
  const { plain } = await readJsonBody(requestOf("x"), maxBodyBytes, undefined, () => {
    throw new Error("It took a turn");
  });
  expect(plain).toEqual({ text: "x" });
});

const inner = z.object({ current: z.string().nullish(), old: deprecated(z.string().nullish(), "current") });
const schema = z.object({
  list: z.array(inner).min(1).nullish(),
  either: z.union([z.string(), inner]).optional(),
  older: deprecated(z.array(inner).nullish(), "list"),
});

test.each([
  ["at the top", { older: [] }],
  ["with a value that the schema refuses", { older: 1 }],
  ["in a list, beside items that are none", { list: [null, 1, { current: "x", old: "y" }] }],
  ["in one branch of a union", { either: { old: "" } }],
  ["beside other issues", { list: "no list", older: false }],
])("An old name is found %s", (_, value) => {
  expect(usesOldNames(schema, value)).toBe(true);
});

test.each([
  ["nulls", { older: null, list: [{ old: null }] }],
  ["today's names", { list: [{ current: "x" }] }],
  ["the same name elsewhere", { old: "x", list: { old: "x" } }],
  ["no object", "older"],
  ["nothing", undefined],
])("None is found in %s", (_, value) => {
  expect(usesOldNames(schema, value)).toBe(false);
});

test("A schema without old names has none, whatever it is given", () => {
  expect(usesOldNames(ChatCompletionRequest, { messages: [{ older: 1 }], older: 1 })).toBe(false);
});
