import { z } from "zod";
import { shortened } from "../../platform/words.ts";
import { defineFamily } from "../family.ts";
import { UnusableSampleError } from "../outcome.ts";
import { codePointPositions, comparedText, strippedRange, stripTagsSetting } from "./text.ts";

export interface FoundNumber {
  value: number;
  /** The number as it is written, if it is beyond 1e308 and so infinite. */
  written?: string;
  /** Its position in the text, in UTF-16 units. */
  start: number;
  end: number;
}

const notGlued = String.raw`(?<![\p{L}\p{N}_)\]−-])`;
// Sign, point, digits joined by points and commas, exponent. What they mean is decided afterwards, so that the
// pattern takes linear time on any text.
const chain = new RegExp(
  String.raw`(?<sign>${notGlued}[-+−]\p{Sc}?)?(?<point>(?<![\p{L}\p{N}_)\].])\.)?(?<digits>\d+(?:[.,]\d+)*)(?<exponent>[eE][-+−]?\d+(?![\p{L}\p{N}]))?`,
  "gu",
);
const withThousands = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/;

/**
 * The numbers of a text, from left to right. Digits are ASCII; the point is the decimal mark; a comma separates
 * thousands where every group after it has three digits (`1,234.5`), and numbers elsewhere (`1,23` is 1 and 23, but `100,200` is one number).
 * More than one point makes integers (`3.14.15` is 3, 14 and 15). `-`, `+` and `−` are signs unless they follow a
 * letter, a digit or a closing bracket, so that a date, a range and a name like `item-3` have no negative parts.
 * A percent sign or a unit is ignored: `12%` is 12, and `-$50` is −50. A point after another point does not count: `0..10` is 0 and 10.
 */
export function readNumbers(text: string): IteratorObject<FoundNumber> {
  // Lazily, because all numbers together take a hundred times the memory of the text.
  return text.matchAll(chain).flatMap(({ index, groups = {} }) => {
    const { sign = "", point = "", digits = "", exponent = "" } = groups;
    const pieces = splitChain(digits);
    let start = index + sign.length + point.length;
    return pieces.map((piece, which) => {
      const isFirst = which === 0;
      const isLast = which === pieces.length - 1;
      const before = isFirst ? sign + (piece.includes(".") ? "" : point) : "";
      const after = isLast ? exponent : "";
      const written = before + piece + after;
      const value = toNumber(written);
      const found = {
        value,
        ...(!Number.isFinite(value) && { written }),
        start: isFirst ? index : start,
        end: start + piece.length + after.length,
      };
      start += piece.length + 1;
      return found;
    });
  });
}

function splitChain(digits: string): string[] {
  if (withThousands.test(digits)) return [digits];
  return digits.split(",").flatMap((piece) => {
    const parts = piece.split(".");
    return parts.length > 2 ? parts : [piece];
  });
}

function toNumber(written: string): number {
  return Number(
    written
      .replaceAll(",", "")
      .replaceAll("−", "-")
      .replace(/\p{Sc}/u, ""),
  );
}

const config = z.strictObject({
  absolute_tolerance: z
    .number()
    .min(0)
    .default(0)
    .meta({ description: "Numbers that differ by at most this much are equal." }),
  relative_tolerance: z
    .number()
    .min(0)
    .default(1e-9)
    .meta({ description: "Share of the gold number. The wider of the two tolerances counts." }),
  compare: z
    .enum(["all", "last"])
    .default("all")
    .meta({ description: "`all`: as many numbers, in the same order. `last`: the last one of each." }),
  strip_tags: stripTagsSetting(false),
});
type Config = z.output<typeof config>;

/** A number of the output and the one at the same place in the gold answer; the shorter list lacks one there. */
interface Pair {
  place: number;
  said: FoundNumber | undefined;
  wanted: FoundNumber | undefined;
}

interface Comparison {
  saidCount: number;
  wantedCount: number;
  pairCount: number;
  wrongCount: number;
  /** The first wrong pairs. */
  wrong: Pair[];
}

/** Texts of this length together take about a millisecond. */
const cheapCharacters = 10_000;
const shownPairs = 5;
const maxPositions = 1_000;

export const numeric = defineFamily({
  kind: "rule",
  name: "numeric",
  description: "The numbers of the output are those of the gold answer, within a tolerance.",
  versions: ["2026-11-30", "2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  builtInProfiles: [
    {
      name: "system:default",
      description: "All numbers in order, up to rounding in the ninth digit.",
      config: { absolute_tolerance: 0, relative_tolerance: 1e-9, compare: "all" },
    },
  ],
  estimateMs: ({ output = "", goldAnswer = "" }) => (output.length + goldAnswer.length) / cheapCharacters,
  prepare(profile) {
    return ({ output = "", goldAnswer = "" }) => {
      const [from, to] = strippedRange(output, profile.strip_tags);
      const said = numbersOf(output.slice(from, to), profile);
      const wanted = numbersOf(comparedText(goldAnswer, profile.strip_tags), profile);
      const comparison = compareNumbers(said, wanted, profile);
      const { saidCount, wantedCount, pairCount, wrongCount, wrong } = comparison;
      if (wantedCount === 0) throw new UnusableSampleError("The gold answer has no number.");
      const wrongInOutput = wrong.flatMap(({ said }) => said ?? []);
      const positions = codePointPositions(
        output,
        wrongInOutput.map(({ start, end }) => [from + start, from + end]),
      );
      return {
        pass: wrongCount === 0,
        score: (pairCount - wrongCount) / pairCount,
        positions: positions.length === 0 ? undefined : positions,
        extra: { output_numbers: saidCount, gold_numbers: wantedCount, wrong: wrongCount },
        explain: () => describe(comparison),
      };
    };
  },
});

function numbersOf(text: string, { compare }: Config): Iterator<FoundNumber> {
  const numbers = readNumbers(text);
  if (compare === "all") return numbers;
  const last = numbers.reduce<FoundNumber | undefined>((_, number) => number, undefined);
  return Iterator.from(last === undefined ? [] : [last]);
}

/** Compares both side by side and keeps only what is reported. */
function compareNumbers(said: Iterator<FoundNumber>, wanted: Iterator<FoundNumber>, profile: Config) {
  const comparison: Comparison = { saidCount: 0, wantedCount: 0, pairCount: 0, wrongCount: 0, wrong: [] };
  for (;;) {
    const pair = { place: comparison.pairCount + 1, said: next(said), wanted: next(wanted) };
    if (pair.said === undefined && pair.wanted === undefined) return comparison;
    comparison.pairCount += 1;
    if (pair.said !== undefined) comparison.saidCount += 1;
    if (pair.wanted !== undefined) comparison.wantedCount += 1;
    if (isRight(pair, profile)) continue;
    comparison.wrongCount += 1;
    if (comparison.wrong.length < maxPositions) comparison.wrong.push(pair);
  }
}

function next(numbers: Iterator<FoundNumber>): FoundNumber | undefined {
  const { done, value } = numbers.next();
  return done ? undefined : value;
}

function isRight({ said, wanted }: Pair, { absolute_tolerance, relative_tolerance }: Config): boolean {
  if (said === undefined || wanted === undefined) return false;
  if (said.value === wanted.value) return said.written === wanted.written;
  const tolerance = Math.max(absolute_tolerance, relative_tolerance * Math.abs(wanted.value));
  return isWithin(tolerance, said.value, wanted.value);
}

/** The most that rounding adds to a tolerance, as a share of it. */
const maxSlack = 0.5;

/**
 * Whether two numbers differ by at most a tolerance as they are written: in binary 20 − 19.99 is a little more than 0.01. For integers
 * the difference is exact.
 */
export function isWithin(tolerance: number, one: number | bigint, other: number | bigint): boolean {
  const larger = Math.max(Math.abs(Number(one)), Math.abs(Number(other)));
  // Beyond 1e308 numbers are infinite, and their difference says nothing.
  if (tolerance === 0 || !Number.isFinite(larger)) return false;
  const areWhole = isWhole(one) && isWhole(other);
  const isLong = typeof one === "bigint" || typeof other === "bigint";
  const difference = areWhole && isLong ? Number(BigInt(one) - BigInt(other)) : Number(one) - Number(other);
  const rounding = 4 * Number.EPSILON;
  const slack = areWhole ? rounding * tolerance : Math.min(rounding * larger, maxSlack * tolerance);
  return Math.abs(difference) <= tolerance + slack;
}

function isWhole(value: number | bigint): boolean {
  return typeof value === "bigint" || Number.isInteger(value);
}

function describe({ pairCount, wrongCount, wrong }: Comparison): string {
  if (wrongCount === 0) return pairCount === 1 ? "The number agrees." : `All ${pairCount} numbers agree.`;
  const shown = wrong.slice(0, shownPairs).map(({ place, said, wanted }) => {
    if (said === undefined)
      return `Number ${place} is missing; the gold answer has ${wanted && numberOf(wanted)}.`;
    if (wanted === undefined) return `Number ${place}, ${numberOf(said)}, is not in the gold answer.`;
    return `Number ${place} is ${numberOf(said)}, but the gold answer has ${numberOf(wanted)}.`;
  });
  const rest = wrongCount > shownPairs ? ` ${wrongCount - shownPairs} more differ.` : "";
  return shown.join(" ") + rest;
}

function numberOf({ value, written }: FoundNumber): string {
  return written === undefined ? String(value) : shortened(written, 30);
}
