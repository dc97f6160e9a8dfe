import { isObject, maxDepth } from "../content.ts";

/** Arrays in a document whose elements are documents themselves. */
const innerArrays = new Set([
  "simulations",
  "resourceSpans",
  "resource_spans",
  "data",
  "spans",
  "runs",
  "traces",
  "samples",
  "observations",
]);
/** Fields that mark documents to be read whole, whatever arrays they have. */
const wholeFields = new Set([
  "messages",
  "conversations",
  "nodes",
  "trajectory",
  "steps",
  "next_state",
  "interaction",
  "tick_state",
]);
/** Fields that show that the observations belong to one trace: its id or the trace itself. Otherwise they are a page. */
const namesTrace = (field: string) => field === "id" || field === "trace";
/** Whether a field's document is read as a whole. */
const isWhole = (field: string, hasTrace: boolean) =>
  wholeFields.has(field) || (field === "observations" && hasTrace);

/** For elements of an object's array: the array's name and the object's other fields; of a long object, only those before the array. */
export interface Surroundings {
  within: string;
  envelope: Record<string, unknown>;
}

/** The bytes of a document, or why it is refused. */
export type JsonPiece = { bytes: Uint8Array; around: Surroundings | undefined } | { refusal: string };

/** The most values in a document. */
const maxValues = 2_000_000;
export const tooDeep = `It is nested deeper than ${maxDepth} levels`;
const maxBytes = 256 * 1024 * 1024;
const misplaced = "The document is not JSON";
const ambiguous = (one: string, other: string) =>
  `Both \`${one}\` and \`${other}\` may be its documents: leave one of them out`;
/** The most bytes before an inner array. */
const maxPrefixBytes = 16 * 1024 * 1024;
/** How far to look for the end of an object with an inner array, to find the fields after the array. */
const lookAheadBytes = 4 * 1024 * 1024;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b;
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d;
const isBlank = (byte: number) => byte <= 0x20;
const bracket = 0x5b;
const closingBracket = 0x5d;
const brace = 0x7b;

/** How documents are arranged in what is read: one after another, or in an array, which may be an object's. */
interface Layer {
  /** The depth of the documents. */
  base: number;
  around: Surroundings | undefined;
  /** Where the first document may begin. */
  at: number;
  /** Why its only document is refused. */
  refusal?: string;
}

/**
 * Splits JSON that comes in chunks into documents: the elements of an array, those of a known array in an object, or consecutive
 * values. It finds where documents end, and leaves the rest to the parser. It holds one document in memory.
 */
export class JsonSplitter {
  /** What has been read of a value whose layer is not known yet. */
  #prefix: Uint8Array = new Uint8Array();
  #lookAtBytes = 1;
  #layer: Layer | undefined;
  /** Whether the array of an object has ended, but not the object. */
  #isLeaving = false;
  /** What follows that array, and its length. */
  #after: Uint8Array[] = [];
  #afterBytes = 0;
  /** The documents of the layer so far, and the commas since the last one. */
  #ended = 0;
  #commas = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #document: Uint8Array[] = [];
  #bytes = 0;
  #values = 0;
  #hasBegun = false;
  #refusal: string | undefined;

  /** The documents that end in a chunk. The chunk's memory may be reused afterwards. */
  split(chunk: Uint8Array): JsonPiece[] {
    return this.#read(chunk, false);
  }

  /** What remains at the end. */
  finish(): JsonPiece[] {
    const found = this.#read(new Uint8Array(), true);
    if (this.#hasBegun && this.#depth === 0 && !this.#isInString) found.push(this.#end(new Uint8Array()));
    else if (this.#layer !== undefined) found.push({ refusal: "The JSON is cut off" });
    return found;
  }

  #read(chunk: Uint8Array, isEnd: boolean): JsonPiece[] {
    const found: JsonPiece[] = [];
    let rest: Uint8Array | undefined = chunk;
    while (rest !== undefined)
      rest = this.#layer === undefined ? this.#look(rest, isEnd) : this.#split(rest, found);
    return found;
  }

  /** Finds out how documents are arranged in the next value. Returns what is to be split, or undefined if more is needed. */
  #look(chunk: Uint8Array, isEnd: boolean): Uint8Array | undefined {
    const prefix = this.#prefix.length === 0 ? chunk : Buffer.concat([this.#prefix, chunk]);
    const isLast = isEnd || prefix.length > maxPrefixBytes;
    const layer = prefix.length < this.#lookAtBytes && !isLast ? undefined : layerOf(prefix, isLast);
    if (layer === undefined) {
      // Copied, because the chunk's memory may be reused. Looks again once there is twice as much.
      if (prefix.length >= this.#lookAtBytes) this.#lookAtBytes = 2 * prefix.length;
      this.#prefix = prefix === chunk ? chunk.slice() : prefix;
      return undefined;
    }
    this.#layer = layer;
    this.#depth = layer.base;
    this.#refusal = layer.refusal;
    this.#prefix = new Uint8Array();
    this.#lookAtBytes = 1;
    return prefix.subarray(layer.at);
  }

  /** Splits a chunk, and returns what follows the value that ends in it. */
  #split(chunk: Uint8Array, found: JsonPiece[]): Uint8Array | undefined {
    const base = this.#layer?.base ?? 0;
    let from = 0;
    for (let at = this.#isInString ? this.#afterString(chunk, 0) : 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      // Letters, digits and other bytes that have no meaning here.
      if (byte > comma && byte !== colon && (byte | 0x20) !== 0x7b && (byte | 0x20) !== 0x7d) {
        if (this.#hasBegun || this.#isLeaving) continue;
      }
      const isAtBase = this.#depth === base && !this.#isLeaving;
      if (isBlank(byte) || byte === comma) {
        if (byte === comma) this.#values += 1;
        if (!isAtBase) continue;
        if (this.#hasBegun) {
          found.push(this.#end(chunk.subarray(from, at)));
          if (base === 0) return this.#leaveLayer(chunk, at);
        }
        if (byte === comma) this.#commas += 1;
        continue;
      }
      if (isClosing(byte)) {
        if (isAtBase && this.#hasBegun) found.push(this.#end(chunk.subarray(from, at)));
        this.#depth -= 1;
        if (this.#hasBegun && this.#depth === base) {
          found.push(this.#end(chunk.subarray(from, at + 1)));
          if (base === 0) return this.#leaveLayer(chunk, at + 1);
        }
        if (isAtBase && (base === 0 || byte !== closingBracket || this.#commas > 0))
          found.push({ refusal: misplaced });
        if (this.#depth <= 0) {
          if (this.#isLeaving) found.push(...this.#checkAfter(chunk.subarray(from, at + 1)));
          return this.#leaveLayer(chunk, at + 1);
        }
        if (this.#depth < base && !this.#isLeaving) {
          this.#isLeaving = true;
          from = at + 1;
        }
        continue;
      }
      if (!this.#hasBegun && !this.#isLeaving) {
        if (base > 0 && this.#commas !== Math.min(this.#ended, 1)) this.#refusal ??= misplaced;
        this.#hasBegun = true;
        from = at;
      }
      if (byte === quote) at = this.#afterString(chunk, at + 1) - 1;
      else if (isOpening(byte)) {
        this.#depth += 1;
        if (this.#depth - base > maxDepth) this.#refusal ??= tooDeep;
      }
    }
    if (this.#hasBegun) this.#keep(chunk.subarray(from));
    else if (this.#isLeaving) this.#keepAfter(chunk.subarray(from));
    return undefined;
  }

  /** The end of a string that continues at `start`; the chunk's length if it does not end in the chunk. */
  #afterString(chunk: Uint8Array, start: number): number {
    this.#isInString = true;
    if (start >= chunk.length) return chunk.length;
    for (let at = this.#isEscaped ? start + 1 : start; ; ) {
      const end = chunk.indexOf(quote, at);
      const before = end < 0 ? chunk.length : end;
      let slashes = 0;
      while (before - slashes > at && chunk[before - slashes - 1] === backslash) slashes += 1;
      this.#isEscaped = slashes % 2 === 1;
      if (end < 0) return chunk.length;
      at = end + 1;
      if (this.#isEscaped) continue;
      this.#isInString = false;
      return at;
    }
  }

  #leaveLayer(chunk: Uint8Array, at: number): Uint8Array | undefined {
    this.#layer = undefined;
    this.#depth = 0;
    this.#isLeaving = false;
    this.#after = [];
    this.#afterBytes = 0;
    this.#ended = 0;
    this.#commas = 0;
    return at < chunk.length ? chunk.subarray(at) : undefined;
  }

  #keepAfter(part: Uint8Array): void {
    this.#afterBytes += part.length;
    if (this.#afterBytes <= maxBytes) this.#after.push(part.slice());
    else this.#after = [];
  }

  /** The fault of what follows an object's array. */
  #checkAfter(part: Uint8Array): JsonPiece[] {
    this.#keepAfter(part);
    const within = this.#layer?.around?.within ?? "";
    if (this.#afterBytes > maxBytes)
      return [{ refusal: `What follows \`${within}\` is longer than ${maxBytes} bytes` }];
    try {
      const fields = JSON.parse(`{"":null${Buffer.concat(this.#after)}`);
      const other = Object.keys(fields).find(
        (name) => wholeFields.has(name) || areDocuments(name, fields[name]),
      );
      return other === undefined ? [] : [{ refusal: ambiguous(within, other) }];
    } catch {
      return [{ refusal: `What follows \`${within}\` is not JSON` }];
    }
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#values > maxValues) this.#refusal ??= `It has more than ${maxValues} values`;
    if (this.#bytes > maxBytes) this.#refusal ??= `It is longer than ${maxBytes} bytes`;
    if (this.#refusal === undefined) this.#document.push(part.slice());
    else this.#document = [];
  }

  #end(part: Uint8Array): JsonPiece {
    const isOnePart = this.#document.length === 0 && this.#refusal === undefined;
    if (!isOnePart) this.#keep(part);
    const refusal =
      this.#refusal ?? (this.#values > maxValues ? `It has more than ${maxValues} values` : undefined);
    const bytes = isOnePart
      ? part.slice()
      : new Uint8Array(Bun.concatArrayBuffers(this.#document as Uint8Array<ArrayBuffer>[]));
    this.#document = [];
    this.#bytes = 0;
    this.#values = 0;
    this.#hasBegun = false;
    this.#refusal = undefined;
    this.#ended += 1;
    this.#commas = 0;
    return refusal === undefined ? { bytes, around: this.#layer?.around } : { refusal };
  }
}

/** How documents are arranged in the value that a text begins with; undefined if more of the text is needed. */
function layerOf(text: Uint8Array, isLast: boolean): Layer | undefined {
  let at = 0;
  while (at < text.length && (isBlank(text[at] as number) || text[at] === comma)) at += 1;
  if (at === text.length) return undefined;
  const whole = { base: 0, around: undefined, at };
  if (text[at] === bracket) return { base: 1, around: undefined, at: at + 1 };
  if (text[at] !== brace) return whole;
  const found = innerLayer(text, at);
  if (found?.around === undefined) return found ?? (isLast ? whole : undefined);
  const end = endOfObject(text, at);
  if (end === undefined) return isLast || text.length >= lookAheadBytes ? found : undefined;
  try {
    const inner = innerElements(JSON.parse(Buffer.from(text.subarray(at, end)).toString()));
    if (inner === undefined) return whole;
    return "refusal" in inner ? { ...whole, ...inner } : { ...found, around: inner.around };
  } catch {
    // The errors of its elements, or of what follows them, will say so.
    return found;
  }
}

/** The end of an object, or of what looks like one; undefined if it is beyond a fixed distance, so that the result does not depend on the chunks. */
export function endOfObject(text: Uint8Array, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < Math.min(text.length, lookAheadBytes); at += 1) {
    const byte = text[at] as number;
    if (byte === quote) at = endOfString(text, at + 1) ?? text.length;
    else if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** The layer of an object: its first known array of objects, or the object as a whole. */
function innerLayer(text: Uint8Array, start: number): Layer | undefined {
  const whole = { base: 0, around: undefined, at: start };
  let depth = 0;
  let key = "";
  let hasTrace = false;
  for (let at = start; at < text.length; at += 1) {
    const byte = text[at] as number;
    if (byte === quote) {
      const end = endOfString(text, at + 1);
      if (end === undefined) return undefined;
      if (depth === 1) key = Buffer.from(text.subarray(at + 1, Math.min(end, at + 65))).toString("latin1");
      at = end;
    } else if (byte === colon && depth === 1) {
      hasTrace ||= namesTrace(key);
      if (isWhole(key, hasTrace)) return whole;
      const array = innerArrays.has(key) ? arrayOfObjects(text, at + 1) : false;
      if (array === undefined) return undefined;
      if (array !== false) {
        const envelope = envelopeOf(Buffer.from(text.subarray(start, at + 1)).toString(), key);
        if (envelope === undefined) return { ...whole, refusal: misplaced };
        return { base: 2, around: { within: key, envelope }, at: array };
      }
    } else if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) {
      depth -= 1;
      if (depth === 0) return whole;
    }
  }
  return undefined;
}

/** Where the first object of an array begins; false if the value is no array of objects, undefined if more text is needed. */
function arrayOfObjects(text: Uint8Array, from: number): number | false | undefined {
  let at = from;
  while (at < text.length && isBlank(text[at] as number)) at += 1;
  if (at === text.length) return undefined;
  if (text[at] !== bracket) return false;
  at += 1;
  while (at < text.length && isBlank(text[at] as number)) at += 1;
  if (at === text.length) return undefined;
  return text[at] === brace ? at : false;
}

function endOfString(text: Uint8Array, from: number): number | undefined {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === backslash) at += 1;
    else if (text[at] === quote) return at;
  }
  return undefined;
}

/** The fields before an inner array; undefined if they are not JSON. */
function envelopeOf(before: string, name: string): Record<string, unknown> | undefined {
  try {
    const { [name]: _, ...fields } = JSON.parse(`${before}null}`);
    return fields;
  } catch {
    return undefined;
  }
}

const areDocuments = (name: string, field: unknown) =>
  innerArrays.has(name) && Array.isArray(field) && isObject(field[0]);

/** The elements of a parsed document's inner array, as a splitter would have returned them; undefined if it has none. */
export function innerElements(
  value: unknown,
): { elements: readonly unknown[]; around: Surroundings } | { refusal: string } | undefined {
  if (!isObject(value)) return undefined;
  const names = Object.keys(value);
  const hasTrace = names.some(namesTrace);
  if (names.some((name) => isWhole(name, hasTrace))) return undefined;
  const [within, other] = names.filter((name) => areDocuments(name, value[name]));
  if (within === undefined) return undefined;
  if (other !== undefined) return { refusal: ambiguous(within, other) };
  const { [within]: elements, ...envelope } = value;
  return { elements: elements as unknown[], around: { within, envelope } };
}
