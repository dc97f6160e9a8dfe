import { setImmediate as nextTurn } from "node:timers/promises";
import { mersenne } from "pure-rand/generator/mersenne";
import { rounding } from "./clustered-interval.ts";

const mostExactClusters = 20;
const sampledFlips = 10_000;
/** Signs that one table covers: a byte of a random word. */
const tableBits = 8;
/** Additions before other work gets a turn: a few milliseconds. */
const workAtOnce = 1_000_000;

/**
 * The permutation test of no difference between two runs: under it, each cluster's sum of differences D_g is as likely to
 * have the other sign. The p-value is the share of sign vectors with |Σ ± D_g| ≥ |Σ D_g|: of all 2^G for up to 20 clusters,
 * otherwise (1 + b) / (1 + 10,000) with b of 10,000 random ones (R. A. Fisher, "The Design of Experiments", 1935, section
 * 21; for the sampled form B. Phipson and G. K. Smyth, "Permutation P-values Should Never Be Zero", Statistical Applications
 * in Genetics and Molecular Biology 9 (2010)). Sums within 1e-12 of each other, or of Σ|D_g| where that is more than 1, are
 * ties. Null without clusters.
 *
 * The work is about 1,250 additions a cluster.
 */
export async function signFlipTest(sums: readonly number[], seed: number): Promise<number | null> {
  if (sums.length === 0) return null;
  const magnitude = sums.reduce((total, sum) => total + Math.abs(sum), 0);
  const observed = Math.abs(sums.reduce((total, sum) => total + sum, 0));
  const reached = observed - rounding * Math.max(1, magnitude);
  return sums.length <= mostExactClusters
    ? exactShare(sums, reached)
    : (1 + (await sampledCount(sums, reached, seed))) / (1 + sampledFlips);
}

/** Sums of the halves meet: as many sums are at least `reached` as are at most its negative. */
function exactShare(sums: readonly number[], reached: number): number {
  if (reached <= 0) return 1;
  const half = Math.ceil(sums.length / 2);
  const ascending = signedSums(sums.slice(0, half)).sort();
  const descending = signedSums(sums.slice(half)).sort().reverse();
  let count = 0;
  let large = 0;
  for (const one of ascending) {
    while (large < descending.length && one + (descending[large] ?? 0) >= reached) large += 1;
    count += large;
  }
  return (2 * count) / (ascending.length * descending.length);
}

/** The signs of a vector are the bits of as many 32-bit words of the Mersenne Twister as it needs, the lowest bit first; 1 is plus. */
async function sampledCount(sums: readonly number[], reached: number, seed: number): Promise<number> {
  const random = mersenne(seed);
  const tables: Float64Array[] = [];
  for (let start = 0; start < sums.length; start += tableBits) {
    tables.push(signedSums(sums.slice(start, start + tableBits)));
  }
  let count = 0;
  let work = 0;
  for (let flip = 0; flip < sampledFlips; flip++) {
    work += tables.length;
    if (work > workAtOnce) {
      await nextTurn();
      work = 0;
    }
    let word = 0;
    let total = 0;
    for (let index = 0; index < tables.length; index++) {
      word = index % 4 === 0 ? random.next() : word >>> tableBits;
      const table = tables[index];
      total += table?.[word & (table.length - 1)] ?? 0;
    }
    if (Math.abs(total) >= reached) count += 1;
  }
  return count;
}

/** The sums of these values under all signs, by number: bit i is 1 if value i is added, 0 if it is subtracted. */
function signedSums(values: readonly number[]): Float64Array {
  const signed = new Float64Array(2 ** values.length);
  for (let signs = 0; signs < signed.length; signs++) {
    signed[signs] = values.reduce((sum, value, bit) => ((signs >> bit) & 1 ? sum + value : sum - value), 0);
  }
  return signed;
}
