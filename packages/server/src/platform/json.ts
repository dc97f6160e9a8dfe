/** Deeper than any real request, and less than the depth at which writing JSON overflows the stack. */
const maxDepth = 256;
/** A thousand imported results with all fields and tags have fewer, and so do thirty thousand messages. */
const maxValues = 100_000;
const maxNumberCharacters = 1_000;
/** Up to this many escaped quotes, each is searched for; beyond that, going byte by byte is faster. */
const fewEscapedQuotes = 10_000;

interface JsonScan {
  /** Why the text must not be parsed. */
  refusal: { isTooDeep: boolean; reason: string } | undefined;
  /** Whether there may be a number that a double cannot represent exactly. */
  mayHaveLongNumber: boolean;
}

const code = {
  quote: 0x22,
  plus: 0x2b,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  upperE: 0x45,
  bracket: 0x5b,
  backslash: 0x5c,
  endBracket: 0x5d,
  lowerA: 0x61,
  lowerE: 0x65,
  lowerZ: 0x7a,
  brace: 0x7b,
  endBrace: 0x7d,
} as const;

/**
 * Scans the bytes of a body, before it is parsed, for its depth, the number of its values and the length of its numbers: values
 * take up to a hundred times the memory of their text. Invalid JSON passes; the parser says what is wrong with it.
 */
export function scanJson(bytes: Uint8Array, mostValues = maxValues): JsonScan {
  const { length } = bytes;
  const endOfString = stringSkipper(bytes);
  let values = 0;
  let depth = 0;
  let mayHaveLongNumber = false;
  let at = 0;
  while (at < length) {
    const byte = bytes[at] ?? 0;
    at += 1;
    if (byte === code.quote) {
      values += 1;
      at = endOfString(at);
    } else if (byte === code.colon) {
      // The string before it was a key.
      values -= 1;
    } else if (byte === code.bracket || byte === code.brace) {
      values += 1;
      depth += 1;
      if (depth > maxDepth) return refuse(`nested deeper than ${maxDepth} levels`, { isTooDeep: true });
    } else if (byte === code.endBracket || byte === code.endBrace) {
      depth -= 1;
    } else if (byte === code.minus || isDigit(byte)) {
      values += 1;
      const start = at - 1;
      at = endOfNumber(bytes, at);
      if (at - start > maxNumberCharacters) {
        return refuse(`A number has at most ${maxNumberCharacters} characters`);
      }
      mayHaveLongNumber ||= mayBeLong(bytes, start, at);
    } else if (byte >= code.lowerA && byte <= code.lowerZ) {
      values += 1;
      at = endOfWord(bytes, at);
    }
    if (values > mostValues) return refuse(`A body has at most ${mostValues} values`);
  }
  return { refusal: undefined, mayHaveLongNumber };
}

function refuse(reason: string, { isTooDeep = false } = {}): JsonScan {
  return { refusal: { isTooDeep, reason }, mayHaveLongNumber: false };
}

/** Returns a function that finds the end of a string, after its closing quote. */
function stringSkipper(bytes: Uint8Array): (start: number) => number {
  let escapedQuotes = 0;
  return (start) => {
    let from = start;
    while (escapedQuotes < fewEscapedQuotes) {
      const end = bytes.indexOf(code.quote, from);
      if (end < 0) return bytes.length;
      let before = end - 1;
      while (before >= from && bytes[before] === code.backslash) before -= 1;
      if ((end - before) % 2 === 1) return end + 1;
      escapedQuotes += 1;
      from = end + 1;
    }
    for (let at = from; at < bytes.length; ) {
      const byte = bytes[at];
      if (byte === code.quote) return at + 1;
      at += byte === code.backslash ? 2 : 1;
    }
    return bytes.length;
  };
}

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isOfNumber(bytes[at] ?? 0)) at += 1;
  return at;
}

function endOfWord(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isLowerCase(bytes[at] ?? 0)) at += 1;
  return at;
}

/** True for all integers of 16 digits or more, for all numbers that may be out of range, and for some others. */
function mayBeLong(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < "1e308".length) return false;
  let isFraction = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === code.lowerE || byte === code.upperE) return bytes[at + 1] !== code.minus;
    isFraction ||= byte === code.point;
  }
  return end - start > (isFraction ? 300 : 15);
}

function isDigit(byte: number): boolean {
  return byte >= code.zero && byte <= code.nine;
}

function isLowerCase(byte: number): boolean {
  return byte >= code.lowerA && byte <= code.lowerZ;
}

function isOfNumber(byte: number): boolean {
  return (
    isDigit(byte) ||
    byte === code.point ||
    byte === code.minus ||
    byte === code.plus ||
    byte === code.lowerE ||
    byte === code.upperE
  );
}

/** Parsed JSON. Both are the same value unless it has numbers that a double cannot represent. */
export interface JsonReading {
  /** With every number as a double, for code that checks types of values. */
  plain: unknown;
  /** With the digits of long integers, in objects that only `JSON.stringify` understands; to be forwarded or stored. */
  exact: unknown;
}

/**
 * Parses stored JSON so that a number that a double cannot represent, such as a long seed, is written again digit for digit. Its depth
 * was checked when it arrived, and a row may hold it a few levels deeper.
 */
export function parseStored(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  return hasLongNumber(plain, Number.NEGATIVE_INFINITY) ? parseExactly(text) : plain;
}

/** Reads JSON both ways. Throws a `SyntaxError` for invalid JSON and for JSON that is nested too deeply to be written again. */
export function readJson(text: string): JsonReading {
  const plain: unknown = JSON.parse(text);
  return { plain, exact: hasLongNumber(plain, 0) ? parseExactly(text) : plain };
}

/** The exact reading of a text whose depth has been checked. It takes ten times as long as `JSON.parse`. */
export function parseExactly(text: string): unknown {
  return parseNumbers(text, (value, source) => {
    if (!isInexact(value)) return value;
    return !Number.isFinite(value) || /^-?\d+$/.test(source) ? rawJson(source) : value;
  });
}

/**
 * `JSON.parse` with what `read` makes of each number and its source text. Several readings use it: `parseExactly` writes long integers again
 * and cannot calculate with them; `parseAsWritten` writes every number as it was, `1.0` too, and calculates with doubles; the evaluators'
 * `readExactJson` and `readPythonJson` compare long integers by value.
 */
export function parseNumbers(
  text: string,
  read: (value: number, source: string, holder: object, key: string) => unknown,
): unknown {
  // TypeScript's library does not know the reviver's source text yet.
  return JSON.parse(
    text,
    function (this: object, key: string, value: unknown, context?: { source?: string }) {
      return typeof value === "number" ? read(value, context?.source ?? String(value), this, key) : value;
    },
  );
}

/** Also checks the depth of the whole value. Uses plain loops, because every request passes through here. */
function hasLongNumber(value: unknown, depth: number): boolean {
  if (typeof value === "number") return isInexact(value);
  if (typeof value !== "object" || value === null) return false;
  if (depth === maxDepth) throw new SyntaxError(`nested deeper than ${maxDepth} levels`);
  let found = false;
  for (const key in value) {
    if (hasLongNumber((value as Record<string, unknown>)[key], depth + 1)) found = true;
  }
  return found;
}

/** `JSON.parse` reads a number beyond the range of doubles as infinite. */
function isInexact(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** TypeScript's library does not know `JSON.rawJSON` yet. */
export const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
