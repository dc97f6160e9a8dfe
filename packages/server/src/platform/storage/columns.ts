/** Microseconds since 1970-01-01 UTC. */
export type Micros = number;

export const microsPerMs = 1000;
export const microsPerSecond = 1_000_000;
export const microsPerHour = 3_600_000_000;
export const microsPerDay = 24 * microsPerHour;

export function nowMicros(): Micros {
  return Date.now() * microsPerMs;
}

export function toMicros(instant: Date): Micros {
  return instant.getTime() * microsPerMs;
}

/** The contract's date-time: ISO 8601 with an offset and milliseconds. */
export function toIsoInstant(micros: Micros): string {
  return new Date(micros / microsPerMs).toISOString();
}

export function isoInstantOrNull(micros: Micros | null): string | null {
  return micros === null ? null : toIsoInstant(micros);
}

/** A boolean column: PostgreSQL's own booleans would read back differently from SQLite's. */
export type Flag = 0 | 1;

export function toFlag(value: boolean): Flag {
  return value ? 1 : 0;
}

/** The part of a text up to `maxCharacters` as every database stores it: none accepts NUL, nor half of a surrogate pair. */
export function toStorableText(text: string, maxCharacters = Number.POSITIVE_INFINITY): string {
  const part = text.length > maxCharacters ? text.slice(0, maxCharacters) : text;
  return part.toWellFormed().replaceAll("\0", "\ufffd");
}

const maxVerbCharacters = 100;

/** The column `verb` of an action: its first word in lower case; for a JSON call or a list of calls, the name of the first one. */
export function verbOf(action: string): string {
  const word = nameOfCall(readCall(action)) ?? /\S+/.exec(action)?.[0] ?? "";
  return toStorableText(word.toLowerCase(), maxVerbCharacters);
}

/** A call is `{name}`, `{tool}`, `{function: {name}}` or `{function: name}`. */
function nameOfCall(call: unknown): string | undefined {
  if (typeof call !== "object" || call === null) return undefined;
  const { name, tool, function: called }: { name?: unknown; tool?: unknown; function?: unknown } = call;
  const named = [name, tool, called].find((one) => typeof one === "string");
  return named ?? nameOfCall(called);
}

function readCall(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value[0] : value;
  } catch {
    return undefined;
  }
}

/** The PostgreSQL sequence of results' numbers. */
export const resultNumbers = "evaluation_result_ids";

/**
 * On PostgreSQL, the writer of results holds an advisory lock until they are committed: this number plus the sequence's last value
 * before the writer took its numbers. Nothing else may use the `writerLocks` advisory locks from here on.
 */
export const firstWriterLock = "3196051254486728704";
export const writerLocks = String(2 ** 44);

/** Results per row of `evaluation_times`. It can never change, because the table depends on it. */
export const numbersPerStretch = 2_000;

/** What a result says about its sample: where it comes from in a dataset or a trajectory. */
interface SampleOrigin {
  /** The tag `trajectory_id`. */
  trajectoryId?: string | undefined;
  datasetId?: string | undefined;
  datasetSampleId?: number | string | undefined;
}

/** The tag that names a sample's trajectory. */
export const trajectoryTag = "trajectory_id";

/** How many bytes of a digest a number represents exactly. */
const digestBytes = 6;

/**
 * The cluster of a result: results of one trajectory, otherwise of one sample, are not independent of each other. Null if the
 * result names neither. A number takes less room than the names; the chance that two of a million clusters share one is 1 in 500, and
 * they would then count as one cluster. Stored results depend on it, so it can never change.
 */
export function clusterIdOf({ trajectoryId, datasetId, datasetSampleId }: SampleOrigin): number | null {
  const dataset = datasetId ?? null;
  if (trajectoryId) return digestOf(["trajectory", dataset, trajectoryId]);
  if (datasetSampleId === undefined) return null;
  return digestOf(["sample", dataset, String(datasetSampleId)]);
}

function digestOf(names: readonly (string | null)[]): number {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(names)).digest().readUIntBE(0, digestBytes);
}

/** Ids have at most 200 digits. */
const lengthDigits = 3;
const maxLength = 10 ** lengthDigits - 1;

/**
 * A text that puts samples in the order that people expect when it is compared by bytes: numbers by value, also within texts, so that
 * `run-2/10` follows `run-2/9`. A number and the text of its digits have the same key, and no others do. Stored results depend on
 * it, so it can never change.
 */
export function sampleKey(id: number | string): string {
  const text = String(id);
  const [, negative] = /^-([1-9]\d*)$/.exec(text) ?? [];
  // Negative numbers of larger magnitude come earlier.
  if (negative !== undefined) return `-${inLength(maxLength - negative.length)}${complementOf(negative)}`;
  return text.replace(/\d+/g, keyOfDigits);
}

/** How many digits the value has, the value, and how many zeros precede it. */
function keyOfDigits(digits: string): string {
  const value = digits.replace(/^0+(?=\d)/, "");
  return inLength(value.length) + value + inLength(digits.length - value.length);
}

function inLength(length: number): string {
  return String(length).padStart(lengthDigits, "0");
}

function complementOf(digits: string): string {
  return digits.replace(/\d/g, (digit) => String(9 - Number(digit)));
}
