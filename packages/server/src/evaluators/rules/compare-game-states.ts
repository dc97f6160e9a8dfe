import { cutText } from "./cut-text.ts";
import { isEqualInPython } from "./python-equality.ts";
import { fieldInPython, isInPython, isSortedAlike, itemsInPython, keyInPython } from "./python-values.ts";
import { isContainer, type Json } from "./read-json.ts";

/** A state of a game: its objects by their uuid, and the state of the score if there is one. */
export interface GameState {
  objects: ReadonlyMap<string, Json>;
  score: Json;
}

export interface GameStateErrors {
  /** Wrong properties and contents, and missing objects. */
  objectErrors: number;
  /** Wrong fields of the score. */
  scoreErrors: number;
  /** The first of them, for people. */
  first: string[];
}

const maxListed = 5;
/** Of a fault: the names of objects and properties may be of any length. */
const maxFaultLength = 200;

/** Sorts the entries of a state into objects and score. Of two with one uuid the last counts. */
export function toGameState(entries: Json): GameState {
  const objects = new Map<string, Json>();
  let score: Json = {};
  for (const entry of itemsInPython(entries)) {
    if (isInPython("uuid", entry)) objects.set(keyInPython(fieldInPython(entry, "uuid")), entry);
    else if (isInPython("score", entry)) score = entry;
  }
  return { objects, score };
}

/**
 * Counts errors as LLM-Sim does. Only what the gold state has is looked at: further objects and properties cost nothing. Throws a
 * `PythonError` if the predicted state has another form.
 */
export function compareGameStates(predicted: GameState, gold: GameState): GameStateErrors {
  const first: string[] = [];
  let errors = 0;

  function count(fault: string): void {
    errors += 1;
    if (first.length < maxListed) first.push(cutText(fault, maxFaultLength));
  }

  for (const [uuid, wanted] of gold.objects) {
    const name = nameOf(wanted, uuid);
    const said = predicted.objects.get(uuid);
    if (said === undefined) count(`${name} is missing`);
    else compareObject(said, wanted, (place) => count(`${place} of ${name}`));
  }
  const objectErrors = errors;
  for (const key of keysOf(gold.score)) {
    if (!isRight(predicted.score, gold.score, key, isEqualInPython)) count(`${key} of the score`);
  }
  return { objectErrors, scoreErrors: errors - objectErrors, first };
}

function compareObject(said: Json, wanted: Json, count: (place: string) => void): void {
  const wantedProperties = fieldInPython(wanted, "properties");
  if (isInPython("properties", said)) {
    const properties = fieldInPython(said, "properties");
    for (const key of keysOf(wantedProperties)) {
      if (!isRight(properties, wantedProperties, key, isSameProperty)) count(key);
    }
  } else {
    count("properties");
  }
  const isContentRight =
    isInPython("contains", said) &&
    isSortedAlike(fieldInPython(wanted, "contains"), fieldInPython(said, "contains"));
  if (!isContentRight) count("contains");
}

function isRight(
  said: Json,
  wanted: Json,
  key: string,
  isSame: (one: Json, other: Json) => boolean,
): boolean {
  return isInPython(key, said) && isSame(fieldInPython(said, key), fieldInPython(wanted, key));
}

/** Unlike `==`, it does not take NaN for equal to itself inside an object. */
function isSameProperty(one: Json, other: Json): boolean {
  if (!isObject(one) || !isObject(other)) return isEqualInPython(one, other);
  const entries = Object.entries(one);
  return (
    entries.length === keysOf(other).length &&
    entries.every(([key, value]) => Object.hasOwn(other, key) && isSameProperty(value, other[key] ?? null))
  );
}

function keysOf(value: Json): string[] {
  return isObject(value) ? Object.keys(value) : [];
}

function isObject(value: Json): value is { [key: string]: Json } {
  return isContainer(value) && !Array.isArray(value);
}

function nameOf(value: Json, uuid: string): string {
  const name = isObject(value) ? value.name : undefined;
  return typeof name === "string" ? name : `object ${uuid}`;
}
