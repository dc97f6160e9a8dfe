// JSON as it was written: found in a text, and laid out in lines.

/** Undefined if the text is not JSON. */
export function formatJson(text: string): string | undefined {
  const json = findJson(text);
  if (json === undefined) return undefined;
  const lines = jsonLines(json).map((line) => line.text);
  return lines.join("\n");
}

/** A line of formatted JSON. */
interface JsonLine {
  text: string;
  /** The line's JSON path, for example `rooms[2].door`. */
  path: string;
}

const step = "  ";

/** Formats JSON line by line. The canonical form sorts keys and normalises strings and numbers. */
export function jsonLines(json: JsonSource, isCanonical = false): JsonLine[] {
  const lines: JsonLine[] = [];
  write(json, { indent: "", lead: "", tail: "", path: "" });
  return lines;

  function write(
    value: JsonSource,
    place: { indent: string; lead: string; tail: string; path: string },
  ): void {
    const { indent, lead, tail, path } = place;
    const [first, last] = value.kind === "array" ? "[]" : "{}";
    const members = value.kind === "scalar" ? [] : membersOf(value, path, isCanonical);
    if (value.kind === "scalar" || members.length === 0) {
      const source = value.kind === "scalar" ? scalar(value.source, isCanonical) : `${first}${last}`;
      lines.push({ text: `${indent}${lead}${source}${tail}`, path });
      return;
    }
    lines.push({ text: `${indent}${lead}${first}`, path });
    members.forEach(({ lead, path, value }, place) => {
      write(value, { indent: indent + step, lead, path, tail: place === members.length - 1 ? "" : "," });
    });
    lines.push({ text: `${indent}${last}${tail}`, path });
  }
}

interface Member {
  lead: string;
  path: string;
  value: JsonSource;
}

function membersOf(
  value: Exclude<JsonSource, { kind: "scalar" }>,
  path: string,
  isCanonical: boolean,
): Member[] {
  if (value.kind === "array") {
    return value.items.map((item, place) => ({ lead: "", path: `${path}[${place}]`, value: item }));
  }
  const members = value.entries.map((entry) => {
    const key = scalar(entry.key, isCanonical);
    return { lead: `${key}: `, path: `${path}${keyStep(path, key)}`, value: entry.value };
  });
  return isCanonical ? members.sort((one, other) => (one.lead < other.lead ? -1 : 1)) : members;
}

function keyStep(path: string, key: string): string {
  const name = key.slice(1, -1);
  if (!/^[A-Za-z_][\w-]*$/.test(name)) return `[${key}]`;
  return path === "" ? name : `.${name}`;
}

function scalar(source: string, isCanonical: boolean): string {
  if (!isCanonical) return source;
  if (source.startsWith('"')) return source.includes("\\") ? JSON.stringify(JSON.parse(source)) : source;
  // Longer numbers would lose digits.
  return /^-?[\d.eE+-]{1,15}$/.test(source) ? String(Number(source)) : source;
}

const wrapped = /^\s*<tool_response>([\s\S]*)<\/tool_response>\s*$/;

/** Parses a text as a JSON object or array, optionally wrapped in the tags of a tool response. */
export function findJson(text: string): JsonSource | undefined {
  return parseJsonSource(wrapped.exec(text)?.[1] ?? text);
}

/** JSON as written: numbers keep their digits, objects keep their order and duplicate keys. */
type JsonSource =
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
