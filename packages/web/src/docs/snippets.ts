// The same request in three languages. The page fills in what depends on the reader: the server's address and the key.

import { pythonCalls, sdkCalls } from "./clients.ts";
import { exampleText, mainContent, type Operation } from "./openapi.ts";
import { documentedOrigin, keyPlaceholders } from "./slots.ts";

export const languages = [
  { id: "shell", label: "curl" },
  { id: "python", label: "Python" },
  { id: "typescript", label: "TypeScript" },
] as const;

export function snippetsOf(operation: Operation): Record<(typeof languages)[number]["id"], string> {
  return { shell: curl(operation), python: python(operation), typescript: typescript(operation) };
}

/** `{name}` in the form of a placeholder for readers: `NAME`. */
const pathOf = ({ path }: Operation) => path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());

function requiredQuery({ parameters = [] }: Operation): [string, string][] {
  return parameters
    .filter((one) => one.in === "query" && one.required)
    .map(({ name }) => [name, name.toUpperCase()]);
}

function target(operation: Operation): string {
  const query = requiredQuery(operation).map((pair) => pair.join("="));
  return documentedOrigin + pathOf(operation) + (query.length === 0 ? "" : `?${query.join("&")}`);
}

function isOpen({ security }: Operation): boolean {
  return security?.length === 0;
}

function curl(operation: Operation): string {
  const body = mainContent(operation.requestBody?.content);
  const address = target(operation);
  const parts = [`curl ${address.includes("?") ? `"${address}"` : address}`];
  if (operation.method !== (body === undefined ? "GET" : "POST")) parts.push(`-X ${operation.method}`);
  if (!isOpen(operation)) parts.push(`-H ${keyPlaceholders.shell}`);
  if (body !== undefined) {
    parts.push(`-H "Content-Type: ${body.type}"`);
    parts.push(`--data-binary '${exampleText(body).replaceAll("'", "'\\''")}'`);
  }
  return parts.join(" \\\n  ");
}

function python(operation: Operation): string {
  const { method, requestBody, operationId } = operation;
  const body = mainContent(requestBody?.content);
  const start = [
    "import os",
    "from presage import Presage",
    "",
    "presage = Presage(",
    `    "${documentedOrigin}",`,
    `    ${keyPlaceholders.python},`,
    ")",
  ];
  const call = pythonCalls[operationId];
  if (call !== undefined)
    return [...start, calling(call, body?.example, pythonValue, "for item in", "")].join("\n");
  const path = `"${pathOf(operation)}"`;
  if (body !== undefined && body.type !== "application/json")
    return pythonByHttp(operation, body.type, exampleText(body));
  const args = [`"${method}"`, path];
  if (body !== undefined) args.push(pythonValue(body.example));
  for (const [name, value] of requiredQuery(operation)) args.push(`${name}="${value}"`);
  return [...start, `result = presage.request(${args.join(", ")})`].join("\n");
}

/** For bodies that the client cannot send, since it sends only JSON. */
function pythonByHttp(operation: Operation, type: string, text: string): string {
  return `import os
from urllib.request import Request, urlopen

request = Request(
    "${target(operation)}",
    method="${operation.method}",
    headers={"X-API-KEY": ${keyPlaceholders.python}, "Content-Type": "${type}"},
    data=${JSON.stringify(text)}.encode(),
)
result = urlopen(request).read()`;
}

function typescript(operation: Operation): string {
  const { method, requestBody, operationId } = operation;
  const body = mainContent(requestBody?.content);
  const call = sdkCalls[operationId];
  if (call !== undefined)
    return `import { createPresage } from "@presage/sdk";

const presage = createPresage({
  baseUrl: "${documentedOrigin}",
  apiKey: ${keyPlaceholders.typescript},
});
${calling(call, body?.example, typescriptValue, "for await (const item of", ")", "const result = await ")}`;
  const headers = [
    ...(isOpen(operation) ? [] : [`"X-API-KEY": ${keyPlaceholders.typescript} ?? ""`]),
    ...(body === undefined ? [] : [`"Content-Type": "${body.type}"`]),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(", ")} },`]),
    ...(body === undefined
      ? []
      : [
          `  body: ${typeof body.example === "string" ? JSON.stringify(body.example) : `JSON.stringify(${indent(typescriptValue(body.example))})`},`,
        ]),
  ];
  const address = `"${target(operation)}"`;
  return options.length === 0
    ? `const response = await fetch(${address});`
    : `const response = await fetch(${address}, {\n${options.join("\n")}\n});`;
}

/** A client's call with the values of the example filled in. Named arguments without a value are left out. */
function calling(
  call: string,
  example: unknown,
  written: (value: unknown) => string,
  loop: string,
  loopEnd: string,
  assignment = "result = ",
): string {
  const filled = call
    .replace(/^\*/, "")
    .replace(/\{(\w+)\}/g, (_, name: string) => `"${name.toUpperCase()}"`)
    .replace(/(, \w+=)?\$([\w.]+)/g, (_, name: string | undefined, path: string) => {
      const value = path === "body" ? example : path.split(".").reduce(partOf, example);
      if (value === undefined && name !== undefined) return "";
      return (name ?? "") + written(value);
    });
  if (!call.startsWith("*")) return `${assignment}presage.${filled}${loopEnd === "" ? "" : ";"}`;
  return loopEnd === ""
    ? `${loop} presage.${filled}:\n    print(item)`
    : `${loop} presage.${filled}${loopEnd} console.log(item);`;
}

function partOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** JSON as a TypeScript object: names without quotes. */
export function typescriptValue(value: unknown): string {
  return JSON.stringify(value, null, 2)?.replace(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:") ?? "undefined";
}

const pythonNames: Record<string, string> = { true: "True", false: "False", null: "None" };

/** JSON as a Python value. Strings are the same in both. */
export function pythonValue(value: unknown): string {
  return (
    JSON.stringify(value, null, 4)?.replace(
      /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
      (part) => pythonNames[part] ?? part,
    ) ?? "None"
  );
}

function indent(text: string): string {
  return text.replaceAll("\n", "\n  ");
}
