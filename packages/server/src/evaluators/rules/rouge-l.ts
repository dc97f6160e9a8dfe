import { z } from "zod";
import { defineFamily } from "../family.ts";
import { NotApplicableError, UnusableSampleError } from "../outcome.ts";
import { sharedEnds } from "./edit-distance.ts";
import {
  comparedText,
  countItems,
  endSentence,
  listItems,
  splitWords,
  stripTagsSetting,
  subtract,
} from "./text.ts";
import { type F1Score, f1Score } from "./token-f1.ts";

/**
 * A row of the table of longest common subsequences, by the bit-parallel method of Hyyrö (2004), which looks at 32 tokens in one step; a
 * word of bits without the token is skipped. A zero bit stands for a token of the text at which a common subsequence grows.
 */
export type LcsRow = Uint32Array;

const wordBits = 32;

/** The positions of a token in a text: the bits of `words[n]` belong to the word numbered `indexes[n]`. */
export interface Occurrences {
  indexes: number[];
  words: number[];
}

function emptyRow(tokens: number): LcsRow {
  return new Uint32Array(Math.ceil(tokens / wordBits)).fill(0xffffffff);
}

/** Whether a common subsequence grows at this token of the text. */
function growsAt(row: LcsRow, position: number): boolean {
  const word = row[Math.floor(position / wordBits)] ?? 0xffffffff;
  return ((word >>> (position % wordBits)) & 1) === 0;
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
function addToken(row: LcsRow, { indexes, words }: Occurrences): void {
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

/** Length of the longest common subsequence. It needs memory only for the shorter text. */
export function lcsLength(one: readonly string[], other: readonly string[]): number {
  const { prefix, suffix } = sharedEnds(one, other);
  const oneRest = one.slice(prefix, one.length - suffix);
  const otherRest = other.slice(prefix, other.length - suffix);
  const [shorter, longer] = oneRest.length < otherRest.length ? [oneRest, otherRest] : [otherRest, oneRest];
  const occurrences = findOccurrences(shorter);
  const row = emptyRow(shorter.length);
  for (const token of longer) {
    const found = occurrences.get(token);
    if (found !== undefined) addToken(row, found);
  }
  return prefix + suffix + countZeros(row);
}

function countZeros(row: LcsRow): number {
  let zeros = 0;
  for (const word of row) {
    for (let rest = ~word >>> 0; rest !== 0; rest = (rest & (rest - 1)) >>> 0) zeros += 1;
  }
  return zeros;
}

/** The distinct words of two texts, and those that common subsequences of their sentences contain. */
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

/** The extent of a text, or of one of its sentences. */
interface Extent {
  words: number;
  sentences: number;
}

/** The limit of a comparison, in bits of memory: 31 MB, which takes less than a second. */
const maxCells = 2.5e8;
// What a comparison costs besides its tables, expressed in cells; reading takes up to a hundred bytes per character.
const cellsPerCharacter = 800;
const cellsPerPair = 1_000;
const cellsPerWord = 100;

/**
 * The words behind the ROUGE-L of the Python package `rouge` (pltrdy/rouge): each sentence of the gold answer against each of the
 * output. Undefined if that takes too long or too much memory.
 */
function pltrdyWords(output: string, gold: string): PltrdyWords | undefined {
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

/** The most cells that comparing two texts can need: one to three milliseconds for a million. */
function pltrdyCells(output: string, gold: string): number {
  return cellsOf(maxExtent(output), maxExtent(gold));
}

/** Counts the words without dividing the sentences: each full stop adds at most one word. */
function maxExtent(text: string): Extent {
  const sentences = text.split(".").length;
  return { words: splitWords(text).length + sentences, sentences };
}

/** The cells for each sentence of one text with each of the other. */
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

/** The sentences of a text without repetitions, which have the same words in common as the first. */
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
 * Adds the words of a longest common subsequence. If there are several, it is the one that the package finds: from the end backwards, a
 * word of the output is skipped before one of the gold answer.
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
  // One array for all rows, because a separate array takes more memory than a short row.
  const cells = new Uint32Array(wanted.length * row.length);
  for (const [index, word] of wanted.entries()) {
    const found = occurrences.get(word);
    if (found !== undefined) addToken(row, found);
    cells.set(row, index * row.length);
  }
  return { cells, bitsPerRow: row.length * wordBits };
}

const config = z.strictObject({
  threshold: z.number().min(0).max(1).default(0.5).meta({
    description: "The lowest F1 that passes. The score that `pltrdy` gives is up to 0.00000001 below it.",
  }),
  variant: z.enum(["lin", "pltrdy"]).default("lin").meta({
    description:
      "`lin`: the words of the whole text in order, as Lin (2004) and Google's `rouge_score` count them. `pltrdy`: as the Python package `rouge` does, to compare with papers that used it. It is weaker: each distinct word counts once, sentences may come in any order, case and commas count, and a decimal point ends a sentence.",
  }),
  strip_tags: stripTagsSetting(false),
});

/** Each word becomes its own string: about 250 MB of strings at this length. */
const maxCharacters = 4_000_000;

/** Texts of this length together take about a millisecond, most of it to find the words. */
const cheapCharacters = 10_000;
/** What `pltrdy` compares in one to three milliseconds. It compares pairs of sentences, of which 10,000 characters can contain millions. */
const cheapCells = 1_000_000;

// Google's rouge_score matches [a-z0-9]+ and so drops every other script. Here combining marks belong to their letters.
const word = /[\p{L}\p{M}\p{N}]+/gu;

/** The package adds this to a denominator, so that equal texts score 0.999999995. */
const pltrdyEpsilon = 1e-8;

/** The words of two texts, and how many of them are common to both in the same order. */
interface WordComparison {
  said: readonly string[];
  wanted: readonly string[];
  common: number;
}

const variants = {
  /** ROUGE-L of Lin (2004) at the level of the whole text, with beta 1 and without stemming, in lower case. */
  lin: {
    compare: compareInOrder,
    score: ({ f1 }: F1Score) => f1,
    counted: "Words in common, in the same order",
  },
  pltrdy: {
    compare: compareBySentence,
    score: pltrdyScore,
    counted: "Distinct words in common, in the same order within sentences",
  },
};

/** F1 of the longest common subsequence of words. */
export const rougeL = defineFamily({
  kind: "rule",
  name: "rouge-l",
  description: "How many words the output and the gold answer share in the same order.",
  versions: ["2026-11-24", "2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  threshold: ({ threshold }) => threshold,
  maxCharacters,
  builtInProfiles: [
    { name: "system:default", description: "An F1 of at least 0.5.", config: { threshold: 0.5 } },
    {
      name: "system:pltrdy",
      description:
        "At least 0.5 as the Python package rouge 1.0.1 (pltrdy/rouge) computes it. Weaker than the default; for comparison with papers that used that package.",
      config: { threshold: 0.5, variant: "pltrdy" },
    },
  ],
  estimateMs({ output = "", goldAnswer = "" }, { variant, strip_tags }) {
    const ofLengths = (output.length + goldAnswer.length) / cheapCharacters;
    // Counting the cells of long texts takes long.
    if (variant === "lin" || ofLengths > 1) return ofLengths;
    return pltrdyCells(comparedText(output, strip_tags), comparedText(goldAnswer, strip_tags)) / cheapCells;
  },
  prepare({ threshold, variant, strip_tags }) {
    const { compare, score, counted } = variants[variant];
    return (sample) => {
      const output = comparedText(sample.output ?? "", strip_tags);
      const gold = comparedText(sample.goldAnswer ?? "", strip_tags);
      const comparison = compare(output, gold);
      const { said, wanted, common } = comparison;
      const measured = f1Score(common, said.length, wanted.length);
      return {
        pass: measured.f1 >= threshold,
        score: score(measured),
        extra: {
          precision: measured.precision,
          recall: measured.recall,
          common_words: common,
          output_words: said.length,
          gold_words: wanted.length,
        },
        explain: () => describe(counted, comparison),
      };
    };
  },
});

function compareInOrder(output: string, gold: string): WordComparison {
  const said = wordsOf(output);
  const wanted = wordsOf(gold);
  if (wanted.length === 0)
    throw new NotApplicableError("The gold answer has no words, so ROUGE-L is not defined.");
  return { said, wanted, common: lcsLength(said, wanted) };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(word) ?? [];
}

/** As mdlm_world_modeling calls the package: a space for an empty text, and 0 where it raises, which happens only for full stops alone. */
function compareBySentence(output: string, gold: string): WordComparison {
  const words = pltrdyWords(output || " ", gold || " ");
  if (words === undefined) {
    throw new UnusableSampleError("The output and the gold answer are too long to be compared.");
  }
  return { said: [...words.said], wanted: [...words.wanted], common: words.common.size };
}

function pltrdyScore({ precision, recall }: F1Score): number {
  return 2 * ((precision * recall) / (precision + recall + pltrdyEpsilon));
}

function describe(counted: string, { said, wanted, common }: WordComparison): string {
  const shared = `${counted}: ${common}, of ${said.length} in the output and ${wanted.length} in the gold answer.`;
  const missing = subtract(countItems(wanted), countItems(said));
  const unwanted = subtract(countItems(said), countItems(wanted));
  if (said.length + wanted.length === 0) return "Neither the output nor the gold answer has a word.";
  if (missing.size + unwanted.size === 0) {
    return common === wanted.length ? shared : `${shared} Only the order differs.`;
  }
  return [
    shared,
    ...(missing.has("") || unwanted.has("") ? [`White space after a full stop counts as a word, "".`] : []),
    ...(missing.size > 0 ? [endSentence(`The output lacks ${listItems(missing)}`)] : []),
    ...(unwanted.size > 0
      ? [`${missing.size > 0 ? "It" : "The output"} has ${listItems(unwanted)}, which the gold answer lacks.`]
      : []),
  ].join(" ");
}
