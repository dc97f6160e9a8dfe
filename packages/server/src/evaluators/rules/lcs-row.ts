/**
 * A row of the table of longest common subsequences, by the bit-parallel method of Hyyrö (2004), which looks at 32 tokens in one step; a
 * word of bits without the token is skipped. A zero bit stands for a token of the text at which a common subsequence grows.
 */
export type LcsRow = Uint32Array;

export const wordBits = 32;

/** The positions of a token in a text: the bits of `words[n]` belong to the word numbered `indexes[n]`. */
export interface Occurrences {
  indexes: number[];
  words: number[];
}

export function emptyRow(tokens: number): LcsRow {
  return new Uint32Array(Math.ceil(tokens / wordBits)).fill(0xffffffff);
}

/** Whether a common subsequence grows at this token of the text. */
export function growsAt(row: LcsRow, position: number): boolean {
  const word = row[Math.floor(position / wordBits)] ?? 0xffffffff;
  return ((word >>> (position % wordBits)) & 1) === 0;
}

export function findOccurrences(tokens: readonly string[]): Map<string, Occurrences> {
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
export function addToken(row: LcsRow, { indexes, words }: Occurrences): void {
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

function addToWord(row: LcsRow, index: number, matches: number, carry: number): number {
  const word = row[index] ?? 0;
  const sum = word + ((word & matches) >>> 0) + carry;
  row[index] = sum | (word & ~matches);
  return sum > 0xffffffff ? 1 : 0;
}
