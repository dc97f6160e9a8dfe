import { findJson, type JsonSource } from "./find-json.ts";

/** A line of formatted JSON. */
export interface JsonLine {
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

/** Undefined if the text is not JSON. */
export function formatJson(text: string): string | undefined {
  const json = findJson(text);
  if (json === undefined) return undefined;
  const lines = jsonLines(json).map((line) => line.text);
  return lines.join("\n");
}
