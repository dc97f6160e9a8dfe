import { expect, test } from "bun:test";
import { ask } from "./test-world.ts";

const tools = JSON.stringify([
  { name: "mail__search", parameters: { query: { type: "string" }, page_index: { type: "integer" } } },
]);

function call(parameters: unknown, name = "mail__search", described = tools): unknown {
  const observation = ask({
    environment: "",
    tools: described,
    state: "",
    action: JSON.stringify([{ name, parameters }]),
  });
  const [, json = ""] = /^<tool_response>\n(.*)\n<\/tool_response>$/s.exec(observation) ?? [];
  return JSON.parse(json);
}

test("a valid call gets an error that says there is no data", () => {
  expect(call({ query: "tea" })).toEqual({
    error: "This is a rule-based simulator of a text world and holds no data for the tool mail__search.",
  });
});

test("pages after the first are empty", () => {
  expect(call({ query: "tea", page_index: 3 })).toEqual([]);
});

test("an invalid call gets an error that says what is wrong", () => {
  expect(call({}, "mail__burn")).toEqual({ error: "There is no tool mail__burn." });
  expect(call({ to: "me" })).toEqual({ error: "The tool mail__search takes no parameter to." });
  expect(call({ page_index: "3" })).toEqual({
    error: "The parameter page_index of the tool mail__search must be of type integer.",
  });
  expect(call(JSON.parse('{"__proto__": 1}'))).toEqual({
    error: "The tool mail__search takes no parameter __proto__.",
  });
});

test.each([
  ["OpenAI", (schema: object) => ({ type: "function", function: { name: "weather", parameters: schema } })],
  [
    "OpenAI's later interface",
    (schema: object) => ({ type: "function", name: "weather", parameters: schema }),
  ],
  ["MCP", (schema: object) => ({ name: "weather", inputSchema: schema })],
])("a tool may be described as %s does", (_, describe) => {
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const ask = (parameters: object) => call(parameters, "weather", JSON.stringify([describe(schema)]));
  expect(ask({ city: "Ulm" })).toEqual({ error: expect.stringContaining("holds no data") });
  expect(ask({ town: "Ulm" })).toEqual({ error: "The tool weather takes no parameter town." });
});

test("tools without names say nothing about calls", () => {
  expect(call({}, "x", "[{}]")).toEqual({ error: expect.stringContaining("holds no data") });
});

test("several calls get a list of responses", () => {
  const action = JSON.stringify([
    { name: "a", arguments: {} },
    { name: "b", arguments: { page_index: 1 } },
  ]);
  const observation = ask({ environment: "", state: "", action });
  expect(JSON.parse(observation.replace(/<.*>/g, ""))).toEqual([expect.objectContaining({}), []]);
});

test("JSON without a tool call is an ordinary action", () => {
  expect(ask({ state: "", action: "[1, 2]" })).toBe("No known action matches that input.");
});
