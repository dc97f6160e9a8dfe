import { expect, test } from "bun:test";
import { join } from "node:path";
import { createPresage } from "@presage/sdk";
import { openApiDocument } from "../../../server/src/app/operations.ts";
import { pythonCalls, sdkCalls } from "../../src/docs/clients.ts";
import { type OpenApi, type Operation, tasksOf } from "../../src/docs/openapi.ts";
import { pythonValue, snippetsOf, typescriptValue } from "../../src/docs/snippets.ts";

const document: OpenApi = JSON.parse(JSON.stringify(await openApiDocument()));
const operations = tasksOf(document).flatMap(({ groups }) => groups.flatMap((group) => group.operations));
const operation = (id: string): Operation => {
  const found = operations.find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`There is no operation ${id}.`);
  return found;
};

test("every operation has a task, once", () => {
  const all = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map((one) => one.operationId),
  );
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(all.sort());
});

test("each method of the SDK that is shown exists, and belongs to an operation", () => {
  const presage = createPresage({ baseUrl: "http://127.0.0.1:1" });
  for (const [id, call] of Object.entries(sdkCalls)) {
    operation(id);
    const names = call.replace(/^\*/, "").split("(")[0]?.split(".") ?? [];
    const method = names.reduce<unknown>((owner, name) => Reflect.get(Object(owner), name), presage);
    expect([id, typeof method]).toEqual([id, "function"]);
  }
});

test("each snippet in Python is Python, and calls what the client has with arguments that it takes", async () => {
  for (const id of Object.keys(pythonCalls)) operation(id);
  const snippets = Object.fromEntries(operations.map((one) => [one.operationId, snippetsOf(one).python]));
  const check = `
import ast, inspect, json, sys
sys.path.insert(0, sys.argv[1])
from presage import Presage
presage = Presage("http://127.0.0.1:1", "key")
for name, code in json.load(sys.stdin).items():
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("presage."):
            method = eval(ast.unparse(node.func))
            inspect.signature(method).bind(*node.args, **{one.arg: one.value for one in node.keywords})
`;
  const client = join(import.meta.dir, "../../../../clients/python/src");
  const python = Bun.spawn(["python3", "-c", check, client], {
    stdin: new Blob([JSON.stringify(snippets)]),
    stderr: "pipe",
  });
  expect([await new Response(python.stderr).text(), await python.exited]).toEqual(["", 0]);
});

test("what no client has a method for is plain HTTP", () => {
  const { typescript, python, shell } = snippetsOf(operation("listOpenEnvTasks"));
  expect(typescript).toContain(
    'await fetch("http://127.0.0.1:8080/v1/environments/NAME/openenv/ENV_NAME/tasks", {',
  );
  expect(python).toContain('presage.request("POST", "/v1/environments/NAME/openenv/ENV_NAME/tasks", {');
  expect(shell).toContain("curl http://127.0.0.1:8080/v1/environments/NAME/openenv/ENV_NAME/tasks");
});

test("values are written as each language has them", () => {
  const value = { name: "it is true: null", "x-y": [true, null], tags: {} };
  expect(typescriptValue(value)).toBe(
    '{\n  name: "it is true: null",\n  "x-y": [\n    true,\n    null\n  ],\n  tags: {}\n}',
  );
  expect(pythonValue(value)).toContain('"name": "it is true: null"');
  expect(pythonValue(value)).toContain("True,\n        None");
});

test("a body with an apostrophe stays one argument of curl", async () => {
  const example = { text: "it's" };
  const { shell } = snippetsOf({
    ...operation("createProject"),
    requestBody: { content: { "application/json": { schema: {}, example } } },
  });
  const argument = shell.slice(shell.indexOf("--data-binary ") + "--data-binary ".length);
  const said = await new Response(Bun.spawn(["sh", "-c", `printf %s ${argument}`]).stdout).text();
  expect(JSON.parse(said)).toEqual(example);
});
