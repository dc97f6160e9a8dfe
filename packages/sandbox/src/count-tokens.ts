/**
 * The sandbox has no tokenizer. It counts each word and each punctuation mark as one token, which for English prose is
 * within about ten per cent of the counts of language models' tokenizers.
 */
const tokenPattern = /\w+|[^\w\s]/gu;

export function countTokens(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(tokenPattern)) count += 1;
  return count;
}

/** The text up to the end of token number `maxTokens`. */
export function cutTokens(text: string, maxTokens: number): string {
  let count = 0;
  for (const token of text.matchAll(tokenPattern)) {
    if (count === maxTokens) return text.slice(0, token.index).trimEnd();
    count += 1;
  }
  return text;
}
