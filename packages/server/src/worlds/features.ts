import type { Fields } from "./world.ts";

/** How many bytes of each field count, at most. */
export const maxBytes = { action: 1_024, state: 2_048, task: 1_024 };

/** 1 + ln c for each count c. A text has as many windows as bytes. */
export const weightOf = Float64Array.from({ length: maxBytes.state + 1 }, (_, count) => 1 + Math.log(count));

const space = 0x20;
const encoder = new TextEncoder();

/** The text in UTF-8 with ASCII letters in lower case, each run of white space as one space, and none at the ends; then cut. */
export function normalForm(text: string, most = Number.POSITIVE_INFINITY): Uint8Array {
  const bytes = encoder.encode(text);
  let length = 0;
  let isAfterGap = false;
  // An iterator over a long array takes several times as long.
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === space || (byte >= 0x09 && byte <= 0x0d)) {
      isAfterGap = length > 0;
      continue;
    }
    if (length >= most) break;
    if (isAfterGap) bytes[length++] = space;
    isAfterGap = false;
    bytes[length++] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
  }
  const end = Math.min(length, most);
  return end === bytes.length ? bytes : bytes.subarray(0, end);
}

/** Texts with the same normal forms, but hardly longer than the part that counts. */
export function usedParts({ action, state, task }: Fields): Fields {
  return {
    action: usedPart(action, maxBytes.action),
    state: usedPart(state, maxBytes.state),
    task: usedPart(task, maxBytes.task),
  };
}

function usedPart(text: string, most: number): string {
  if (text.length <= 8 * most) return text;
  const part = text.slice(0, 8 * most);
  // Half a character at its end becomes three bytes.
  return normalForm(part, most + 3).length === most + 3 ? part : text;
}

/**
 * The windows of three bytes of a normal form between two spaces. Each is a code, 24 bits of window and 8 of its count; a count that
 * does not fit is 0 there and the next entry.
 */
export interface Features {
  codes: Uint32Array;
  /** The vector's Euclidean length; 0 for an empty text. */
  norm: number;
}

const codes = new Uint32Array(2 * maxBytes.state);

/** The features of a normal form, valid until the next call. */
export function featuresOf(normal: Uint8Array): Features {
  const counts = tableAt(2);
  let length = 0;
  let sum = 0;
  eachWindow(normal, (window) => {
    counts[window] = (counts[window] ?? 0) + 1;
  });
  eachWindow(normal, (window) => {
    const count = counts[window] ?? 0;
    if (count === 0) return;
    counts[window] = 0;
    sum += (weightOf[count] ?? 0) ** 2;
    codes[length++] = (window << 8) | (count > 255 ? 0 : count);
    if (count > 255) codes[length++] = count;
  });
  return { codes: codes.subarray(0, length), norm: Math.sqrt(sum) };
}

function eachWindow(normal: Uint8Array, visit: (window: number) => void): void {
  if (normal.length === 0) return;
  let window = (space << 8) | (normal[0] ?? 0);
  for (let end = 1; end <= normal.length; end += 1) {
    window = ((window << 8) | (normal[end] ?? space)) & 0xff_ffff;
    visit(window);
  }
}

const tables: Uint16Array[] = [];

/** A number for each window, all 0 between uses. Only the pages that are touched take memory. */
function tableAt(place: 0 | 1 | 2): Uint16Array {
  const table = tables[place] ?? new Uint16Array(2 ** 24);
  tables[place] = table;
  return table;
}

/** Calls back with each window and its count, for the codes from `start` to `end`. */
export function eachFeature(
  codes: Uint32Array,
  visit: (window: number, count: number) => void,
  start = 0,
  end = codes.length,
): void {
  for (let at = start; at < end; at += 1) {
    const code = codes[at] ?? 0;
    visit(code >>> 8, code & 0xff || (codes[++at] ?? 0));
  }
}

/** Compares a text with many. Each table serves one comparison at a time, until it is released. */
export interface Comparison {
  /** Compares with the text whose codes are from `start` to `end`: a view of each text would cost as much as comparing it. */
  cosine(codes: Uint32Array, start: number, end: number, norm: number): number;
  release(): void;
}

/** For the text with each table, the weights of its windows by their numbers in the table, from 1. */
const weightsAt = [new Float64Array(maxBytes.state + 1), new Float64Array(maxBytes.state + 1)] as const;

export function compareWith(features: Features, place: 0 | 1): Comparison {
  const table = tableAt(place);
  const weightAt = weightsAt[place];
  const own = features.codes.slice();
  let windows = 0;
  eachFeature(own, (window, count) => {
    windows += 1;
    table[window] = windows;
    weightAt[windows] = (weightOf[count] ?? 0) / features.norm;
  });
  return {
    cosine(codes, start, end, norm) {
      let sum = 0;
      for (let at = start; at < end; at += 1) {
        const code = codes[at] ?? 0;
        const count = code & 0xff || (codes[++at] ?? 0);
        sum += (weightAt[table[code >>> 8] ?? 0] ?? 0) * (weightOf[count] ?? 0);
      }
      return norm === 0 ? 0 : sum / norm;
    },
    release() {
      eachFeature(own, (window) => {
        table[window] = 0;
      });
    },
  };
}
