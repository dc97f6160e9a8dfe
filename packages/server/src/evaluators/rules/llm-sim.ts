import { andMore, shortened } from "../../platform/words.ts";
import { UnusableSampleError, type Verdict } from "../outcome.ts";
import { isContainer, type Json } from "./json.ts";
import {
  fieldInPython,
  isEqualInPython,
  isInPython,
  isSortedAlike,
  itemsInPython,
  keyInPython,
  PythonError,
  readPythonJson,
} from "./python-values.ts";

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
  /** The first errors, for people. */
  first: string[];
}

const maxListed = 5;
/** The longest description of a fault: the names of objects and properties may be of any length. */
const maxFaultLength = 200;

/** Sorts the entries of a state into objects and score. If two have the same uuid, the last one counts. */
function toGameState(entries: Json): GameState {
  const objects = new Map<string, Json>();
  let score: Json = {};
  for (const entry of itemsInPython(entries)) {
    if (isInPython("uuid", entry)) objects.set(keyInPython(fieldInPython(entry, "uuid")), entry);
    else if (isInPython("score", entry)) score = entry;
  }
  return { objects, score };
}

/**
 * Counts errors as LLM-Sim does. Only what the gold state has is compared: further objects and properties cost nothing. Throws a
 * `PythonError` if the predicted state has another form.
 */
function compareGameStates(predicted: GameState, gold: GameState): GameStateErrors {
  const first: string[] = [];
  let errors = 0;

  function count(fault: string): void {
    errors += 1;
    if (first.length < maxListed) first.push(shortened(fault, maxFaultLength));
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

function isRight(said: Json, wanted: Json, key: string, isSame: (one: Json, other: Json) => boolean) {
  return isInPython(key, said) && isSame(fieldInPython(said, key), fieldInPython(wanted, key));
}

/** Unlike Python's `==`, this does not count NaN as equal to itself inside an object. */
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

export interface LlmSimTexts {
  output: string;
  gold: string;
  /** The state before the action, if the output says only what changes. */
  current?: string;
}

const scoreFields = ["score", "gameOver", "gameWon"];

/**
 * LLM-Sim's verdict on a predicted state (Wang et al. 2024): right if no object of the gold state has an error, and neither has the
 * score. A prediction of another form is wrong.
 */
export function compareAsLlmSim({ output, gold, current }: LlmSimTexts): Verdict {
  const wanted = toGameState(readEntries(gold, "gold answer"));
  const before = current === undefined ? undefined : readEntries(current, "input");
  const errors = findErrors(readPythonJson(output), wanted, before);
  if (errors === undefined) return wrongFormat();
  const { objectErrors, scoreErrors, first } = errors;
  const pass = objectErrors === 0 && (scoreErrors === 0 || errors.isScoreBeside);
  return {
    pass,
    score: pass ? 1 : 0,
    extra: { object_errors: objectErrors, score_errors: scoreErrors, wrong_format: false },
    explain() {
      if (pass) return "All objects of the gold answer are right.";
      return `Wrong: ${andMore(first, objectErrors + scoreErrors, "; ")}.`;
    },
  };
}

function wrongFormat(): Verdict {
  return {
    pass: false,
    score: 0,
    extra: { object_errors: null, score_errors: null, wrong_format: true },
    explain: () => "The output is not a game state in the form of the gold answer.",
  };
}

/** Undefined if the prediction has another form. */
function findErrors(
  said: Json | undefined,
  wanted: GameState,
  before: Json | undefined,
): (GameStateErrors & { isScoreBeside: boolean }) | undefined {
  if (said === undefined) return undefined;
  return unlessPythonFails(() => {
    const entries = before === undefined ? entriesOf(said) : applyChanges(said, before);
    const errors = compareGameStates(toGameState(entries), wanted);
    return { ...errors, isScoreBeside: before === undefined && isScoreBeside(said, wanted.score) };
  });
}

function unlessPythonFails<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof PythonError) return undefined;
    throw error;
  }
}

/** Models often write the score next to the objects, where LLM-Sim's analysis looks for it as well. */
function isScoreBeside(said: Json, wanted: Json): boolean {
  return scoreFields.every(
    (field) =>
      isInPython(field, said) &&
      isInPython(field, wanted) &&
      isEqualInPython(fieldInPython(said, field), fieldInPython(wanted, field)),
  );
}

/** The state after the changes that a prediction lists. As in LLM-Sim, an object that was not there before is not added. */
function applyChanges(changes: Json, before: Json): Json {
  const modified = new Map<string, Json>();
  for (const entry of itemsInPython(fieldInPython(changes, "modified"))) {
    modified.set(keyInPython(fieldInPython(entry, "uuid")), entry);
  }
  const { objects, score } = toGameState(before);
  const hasScore = isInPython("score", score);
  const after: Json[] = [];
  for (const [uuid, object] of objects) {
    if (isInPython(fieldInPython(object, "uuid"), fieldInPython(changes, "removed"))) continue;
    after.push(modified.get(uuid) ?? object);
  }
  if (!hasScore) return after;
  const said = fieldInPython(changes, "score");
  return [...after, itemsInPython(said).length > 0 ? said : score];
}

/**
 * The number of changes between two states, as LLM-Sim's `get_state_diff` finds them: of properties that were there before, of contents, of
 * the score, and objects added or removed. Undefined if they are not states of its games.
 */
export function countGameChanges(before: Json, after: Json): number | undefined {
  const [from, to] = [before, after].map(recordedEntries).map((entries) => entries && toGameState(entries));
  if (from === undefined || to === undefined || from.objects.size === 0) return undefined;
  return unlessPythonFails(() => {
    const { objectErrors, scoreErrors } = compareGameStates(to, from);
    const added = to.objects.keys().filter((uuid) => !from.objects.has(uuid));
    return objectErrors + scoreErrors + [...added].length;
  });
}

/**
 * The script calls the list `game_state`; the data's states, and so our datasets of them, `objects`. Its last entry is the score, which our
 * datasets have next to it.
 */
function entriesOf(state: Json): Json {
  const entries = fieldInPython(state, isInPython("game_state", state) ? "game_state" : "objects");
  return isInPython("score_state", state)
    ? [...itemsInPython(entries), fieldInPython(state, "score_state")]
    : entries;
}

/** The entries of a state that was recorded, not predicted. */
function readEntries(text: string, name: string): Json {
  const entries = recordedEntries(readPythonJson(text) ?? null);
  if (entries !== undefined) return entries;
  throw new UnusableSampleError(
    `The ${name} is not a state of LLM-Sim: JSON with a list of objects, each with uuid, properties and contains.`,
  );
}

function recordedEntries(state: Json): Json[] | undefined {
  return unlessPythonFails(() => {
    const entries = itemsInPython(entriesOf(state));
    const isUsable = [...toGameState(entries).objects.values()].every(
      (object) =>
        isContainer(fieldInPython(object, "properties")) && isContainer(fieldInPython(object, "contains")),
    );
    return isUsable ? entries : undefined;
  });
}
