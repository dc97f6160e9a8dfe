import { sharedEnds } from "./shared-ends.ts";

const wordBits = 32;

/** The positions of a token in a text: the bits of `words[n]` belong to the word numbered `indexes[n]`. */
interface Occurrences {
  indexes: number[];
  words: number[];
}

/**
 * Length of the longest common subsequence. The bit-parallel method of Hyyrö (2004), which looks at 32 tokens in one
 * step and needs memory for the shorter text only; a word of bits without the token is skipped.
 */
export function lcsLength(one: readonly string[], other: readonly string[]): number {
  const { prefix, suffix } = sharedEnds(one, other);
  const oneRest = one.slice(prefix, one.length - suffix);
  const otherRest = other.slice(prefix, other.length - suffix);
  const [shorter, longer] = oneRest.length < otherRest.length ? [oneRest, otherRest] : [otherRest, oneRest];
  const occurrences = findOccurrences(shorter);
  // A zero bit stands for a token of the shorter text at which a common subsequence grows.
  const row = new Uint32Array(Math.ceil(shorter.length / wordBits)).fill(0xffffffff);
  for (const token of longer) {
    const found = occurrences.get(token);
    if (found !== undefined) addToken(row, found);
  }
  return prefix + suffix + countZeros(row);
}

function findOccurrences(tokens: readonly string[]): Map<string, Occurrences> {
  const occurrences = new Map<string, Occurrences>();
  for (const [position, token] of tokens.entries()) {
    const found = occurrences.get(token) ?? { indexes: [], words: [] };
    occurrences.set(token, found);
    const index = Math.floor(position / wordBits);
    if (found.indexes.at(-1) !== index) {
      found.indexes.push(index);
      found.words.push(0);
    }
    const last = found.words.length - 1;
    found.words[last] = ((found.words[last] ?? 0) | (1 << (position % wordBits))) >>> 0;
  }
  return occurrences;
}

/** row = (row + (row & matches)) | (row & ~matches), over numbers as long as the text. */
function addToken(row: Uint32Array, { indexes, words }: Occurrences): void {
  let carry = 0;
  let next = 0;
  for (let step = 0; step < indexes.length; step += 1) {
    const index = indexes[step] ?? 0;
    while (carry > 0 && next < index) {
      carry = addToWord(row, next, 0, carry);
      next += 1;
    }
    carry = addToWord(row, index, words[step] ?? 0, carry);
    next = index + 1;
  }
  while (carry > 0 && next < row.length) {
    carry = addToWord(row, next, 0, carry);
    next += 1;
  }
}

function addToWord(row: Uint32Array, index: number, matches: number, carry: number): number {
  const word = row[index] ?? 0;
  const sum = word + ((word & matches) >>> 0) + carry;
  row[index] = sum | (word & ~matches);
  return sum > 0xffffffff ? 1 : 0;
}

function countZeros(row: Uint32Array): number {
  let zeros = 0;
  for (const word of row) {
    for (let rest = ~word >>> 0; rest !== 0; rest = (rest & (rest - 1)) >>> 0) zeros += 1;
  }
  return zeros;
}
