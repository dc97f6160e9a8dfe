import { addToken, emptyRow, findOccurrences, growsAt, type LcsRow, wordBits } from "./lcs-row.ts";
import { splitWords } from "./split-words.ts";

/** The distinct words of two texts, and those of them that common subsequences of their sentences contain. */
export interface PltrdyWords {
  said: ReadonlySet<string>;
  wanted: ReadonlySet<string>;
  common: ReadonlySet<string>;
}

type Sentence = readonly string[];

interface Sentences {
  all: readonly Sentence[];
  /** The indexes of the sentences that contain a word. */
  withWord: ReadonlyMap<string, readonly number[]>;
}

/** How much there is of one text, or of one sentence of it. */
interface Extent {
  words: number;
  sentences: number;
}

/** What a comparison may look at, in bits of memory: 31 MB, which takes less than a second. */
const maxCells = 2.5e8;
// What a comparison costs besides its tables, expressed in cells; reading takes up to a hundred bytes a character.
const cellsPerCharacter = 800;
const cellsPerPair = 1_000;
const cellsPerWord = 100;

/**
 * The words behind the ROUGE-L of the Python package `rouge` (pltrdy/rouge): each sentence of the gold answer against each of the
 * output. Undefined if that takes too long or too much memory.
 */
export function pltrdyWords(output: string, gold: string): PltrdyWords | undefined {
  let cells = (output.length + gold.length) * cellsPerCharacter;
  if (cells > maxCells) return undefined;
  const said = readSentences(output);
  const wanted = readSentences(gold);
  const common = new Set<string>();
  const compared = new Set<number>();
  for (const [word, wantedIndexes] of wanted.withWord) {
    // Only sentences that both contain a word can have it in common, and the pairs already compared are enough for most words.
    for (const [wantedIndex, saidIndex] of pairsOf(wantedIndexes, said.withWord.get(word) ?? [])) {
      if (common.has(word)) break;
      const pair = wantedIndex * said.all.length + saidIndex;
      if (compared.has(pair)) continue;
      compared.add(pair);
      const [one = [], other = []] = [wanted.all[wantedIndex], said.all[saidIndex]];
      cells += cellsOf({ words: one.length, sentences: 1 }, { words: other.length, sentences: 1 });
      if (cells > maxCells) return undefined;
      addCommonSubsequence(common, one, other);
    }
  }
  return { said: new Set(said.withWord.keys()), wanted: new Set(wanted.withWord.keys()), common };
}

/** The most that comparing two texts can look at: one to three milliseconds for a million cells. */
export function pltrdyCells(output: string, gold: string): number {
  return cellsOf(maxExtent(output), maxExtent(gold));
}

/** Counts the words without dividing the sentences: a full stop makes at most one word more. */
function maxExtent(text: string): Extent {
  const sentences = text.split(".").length;
  return { words: splitWords(text).length + sentences, sentences };
}

/** Each sentence of one with each of the other. */
function cellsOf(one: Extent, other: Extent): number {
  return (
    one.words * other.words +
    cellsPerWord * (one.words * other.sentences + other.words * one.sentences) +
    cellsPerPair * one.sentences * other.sentences
  );
}

function* pairsOf(ones: readonly number[], others: readonly number[]): Generator<[number, number]> {
  for (const one of ones) for (const other of others) yield [one, other];
}

/** Without repeated sentences: they have the same words in common as the first. */
function readSentences(text: string): Sentences {
  const sentences = new Map<string, Sentence>();
  for (const part of text.split(".")) {
    if (part === "") continue;
    const words = splitWords(part);
    // A sentence of spaces has one word, the empty one.
    sentences.set(words.join(" "), words.length === 0 ? [""] : words);
  }
  const all = [...sentences.values()];
  const withWord = new Map<string, number[]>();
  for (const [index, sentence] of all.entries()) {
    for (const word of new Set(sentence)) {
      const indexes = withWord.get(word) ?? [];
      withWord.set(word, indexes);
      indexes.push(index);
    }
  }
  return { all, withWord };
}

/**
 * Adds the words of a longest common subsequence. Of several the one that the package finds: from the end backwards, a word of the
 * output is skipped before one of the gold answer.
 */
function addCommonSubsequence(common: Set<string>, wanted: Sentence, said: Sentence): void {
  let [wantedLeft, saidLeft] = [wanted.length, said.length];
  // Most sentences are equal, or end equally: these words need no table.
  while (wantedLeft > 0 && saidLeft > 0 && wanted[wantedLeft - 1] === said[saidLeft - 1]) {
    wantedLeft -= 1;
    saidLeft -= 1;
    common.add(wanted[wantedLeft] ?? "");
  }
  if (wantedLeft === 0 || saidLeft === 0) return;
  const { cells, bitsPerRow } = fillTable(wanted.slice(0, wantedLeft), said.slice(0, saidLeft));
  while (wantedLeft > 0 && saidLeft > 0) {
    const word = wanted[wantedLeft - 1] ?? "";
    if (word === said[saidLeft - 1]) {
      common.add(word);
      wantedLeft -= 1;
      saidLeft -= 1;
    } else if (growsAt(cells, (wantedLeft - 1) * bitsPerRow + saidLeft - 1)) {
      wantedLeft -= 1;
    } else {
      saidLeft -= 1;
    }
  }
}

/** A row for each word of the gold answer's sentence, with a bit for each of the output's. */
function fillTable(wanted: Sentence, said: Sentence): { cells: LcsRow; bitsPerRow: number } {
  const occurrences = findOccurrences(said);
  const row = emptyRow(said.length);
  // One array for all rows: an array of its own takes more memory than a short row.
  const cells = new Uint32Array(wanted.length * row.length);
  for (const [index, word] of wanted.entries()) {
    const found = occurrences.get(word);
    if (found !== undefined) addToken(row, found);
    cells.set(row, index * row.length);
  }
  return { cells, bitsPerRow: row.length * wordBits };
}
