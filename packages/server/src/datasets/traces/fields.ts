import { LineError } from "../upload/lines.ts";
import { isObject } from "./content.ts";

/** Where a field stands in a document, as faults name it. */
export type Path = readonly (string | number)[];

/** An object in a document, and where. */
export interface At {
  value: Record<string, unknown>;
  path: Path;
}

export function fault(reason: string, path: Path): LineError {
  return new LineError(reason, [...path]);
}

/** A document's value, which must be an object. */
export function objectAt(value: unknown, path: Path = []): At {
  if (!isObject(value))
    throw fault(value === undefined ? "Field required" : "Input should be an object", path);
  return { value, path };
}

/** The objects of a list, which must be there. */
export function objectsIn({ value, path }: At, name: string): At[] {
  const list = value[name];
  if (list === undefined || list === null) throw fault("Field required", [...path, name]);
  if (!Array.isArray(list)) throw fault("Input should be a list", [...path, name]);
  return list.map((one, index) => objectAt(one, [...path, name, index]));
}

/** The objects of a list, which may be missing. */
export function optionalObjectsIn(at: At, name: string): At[] {
  return at.value[name] === undefined || at.value[name] === null ? [] : objectsIn(at, name);
}

/** A text that must be there. */
export function requiredText({ value, path }: At, name: string): string {
  const text = value[name];
  if (typeof text === "string" && text !== "") return text;
  throw fault(text === undefined || text === null ? "Field required" : "Input should be a text", [
    ...path,
    name,
  ]);
}
