/** Runs of n tokens, one after another. Tokens hold no space, so that it can stand between them. */
export function* nGrams(tokens: readonly string[], n: number): Generator<string> {
  for (let start = 0; start + n <= tokens.length; start += 1) {
    yield tokens.slice(start, start + n).join(" ");
  }
}
