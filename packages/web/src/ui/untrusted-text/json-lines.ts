import { findJson, type JsonSource } from "./find-json.ts";

/** A line of JSON set out for reading. */
export interface JsonLine {
  text: string;
  /** Where in the whole the line stands, for example `rooms[2].door`. */
  path: string;
}

const step = "  ";

/** JSON line by line. In canonical form what means the same reads the same: keys are in order, texts and numbers in one notation. */
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
  // Numbers with more digits would not survive.
  return /^-?[\d.eE+-]{1,15}$/.test(source) ? String(Number(source)) : source;
}

/** JSON set out for reading; undefined for a text that is none. */
export function layOutJson(text: string): string | undefined {
  const json = findJson(text);
  if (json === undefined) return undefined;
  const lines = jsonLines(json).map((line) => line.text);
  return lines.join("\n");
}
