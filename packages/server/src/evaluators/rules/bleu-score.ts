import { countItems, overlapOf } from "./multiset.ts";

const maxOrder = 4;

/**
 * How an n-gram precision of 0 is smoothed, which would make the whole score 0.
 * - `none`: nothing, as Papineni et al. (2002).
 * - `add-one`: 1 is added to both counts from bigrams on (Lin and Och 2004; method 2 of NLTK).
 * - `exp`: the first such precision becomes 1/2 of one match, the next 1/4, and so on (mteval-v13a; sacrebleu).
 */
export type BleuSmoothing = "none" | "add-one" | "exp";

export interface BleuScore {
  score: number;
  /** Of unigrams, bigrams and so on, after smoothing. N-grams longer than the output are left out. */
  precisions: number[];
  brevityPenalty: number;
}

/** BLEU-4 of one text against one reference. */
export function bleuScore(
  said: readonly string[],
  wanted: readonly string[],
  smoothing: BleuSmoothing,
): BleuScore {
  const orders = Array.from({ length: Math.min(maxOrder, said.length) }, (_, index) => index + 1);
  const matches = orders.map((n) => overlapOf(countItems(nGrams(said, n)), countItems(nGrams(wanted, n))));
  const brevityPenalty = brevityPenaltyOf(said.length, wanted.length);
  let halvings = 0;
  const precisions = matches.map((matched, index) => {
    const total = said.length - index;
    if (smoothing === "add-one" && index > 0) return (matched + 1) / (total + 1);
    if (smoothing === "exp" && matched === 0) {
      halvings += 1;
      return 1 / (2 ** halvings * total);
    }
    return matched / total;
  });
  // No smoothing helps a text that shares no word.
  if (precisions.length === 0 || matches[0] === 0) return { score: 0, precisions, brevityPenalty };
  const meanLog = precisions.reduce((sum, precision) => sum + Math.log(precision), 0) / precisions.length;
  return { score: brevityPenalty * Math.exp(meanLog), precisions, brevityPenalty };
}

function brevityPenaltyOf(said: number, wanted: number): number {
  if (said >= wanted) return 1;
  return said === 0 ? 0 : Math.exp(1 - wanted / said);
}

/** Runs of n tokens, one after another. Tokens contain no spaces, so a space can separate them. */
function* nGrams(tokens: readonly string[], n: number): Generator<string> {
  for (let start = 0; start + n <= tokens.length; start += 1) {
    yield tokens.slice(start, start + n).join(" ");
  }
}
