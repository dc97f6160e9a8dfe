const wrapped = /^\s*<tool_response>([\s\S]*)<\/tool_response>\s*$/;

/** The object or list that a text is, or holds between the tags of a tool's response. */
export function findJson(text: string): JsonSource | undefined {
  return parseJsonSource(wrapped.exec(text)?.[1] ?? text);
}

/** JSON as it was written: numbers keep their digits and objects their order, and their doubles. */
export type JsonSource =
  | { kind: "scalar"; source: string }
  | { kind: "array"; items: JsonSource[] }
  | { kind: "object"; entries: { key: string; value: JsonSource }[] };

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Deeper is no structure that anybody reads. */
const deepest = 100;
const longest = 4_000_000;

type Open = Exclude<JsonSource, { kind: "scalar" }>;

/** Undefined for a text that is no object and no list in JSON. */
function parseJsonSource(text: string): JsonSource | undefined {
  if (text.length > longest || !/^\s*[[{]/.test(text) || !isJson(text)) return undefined;
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
    if (open.length > deepest) return undefined;
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
