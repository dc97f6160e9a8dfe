const wrapped = /^\s*<tool_response>([\s\S]*)<\/tool_response>\s*$/;

/** Parses a text as a JSON object or array, optionally wrapped in the tags of a tool response. */
export function findJson(text: string): JsonSource | undefined {
  return parseJsonSource(wrapped.exec(text)?.[1] ?? text);
}

/** JSON as written: numbers keep their digits, objects keep their order and duplicate keys. */
export type JsonSource =
  | { kind: "scalar"; source: string }
  | { kind: "array"; items: JsonSource[] }
  | { kind: "object"; entries: { key: string; value: JsonSource }[] };

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const maxDepth = 100;
const maxCharacters = 4_000_000;

type Open = Exclude<JsonSource, { kind: "scalar" }>;

/** Undefined unless the text is a JSON object or array. */
function parseJsonSource(text: string): JsonSource | undefined {
  if (text.length > maxCharacters || !/^\s*[[{]/.test(text) || !isJson(text)) return undefined;
  const open: Open[] = [];
  let key: string | undefined;
  let whole: JsonSource | undefined;
  for (const [source] of text.matchAll(token)) {
    const inside = open.at(-1);
    if (source === "," || source === ":") continue;
    if (source === "}" || source === "]") {
      open.pop();
      continue;
    }
    if (inside?.kind === "object" && key === undefined) {
      key = source;
      continue;
    }
    const value = readValue(source);
    if (inside?.kind === "array") inside.items.push(value);
    else if (inside?.kind === "object") inside.entries.push({ key: key ?? "", value });
    else whole = value;
    key = undefined;
    if (value.kind !== "scalar") open.push(value);
    if (open.length > maxDepth) return undefined;
  }
  return whole;
}

function readValue(source: string): JsonSource {
  if (source === "{") return { kind: "object", entries: [] };
  return source === "[" ? { kind: "array", items: [] } : { kind: "scalar", source };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
