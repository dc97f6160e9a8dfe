import type { TokenKind } from "./tokenize.ts";

/** The colour of each kind; the rest has that of the text. */
export const tokenClass: Record<TokenKind, string | undefined> = {
  comment: "text-ink-3",
  keyword: "text-code-keyword",
  number: "text-code-number",
  plain: undefined,
  property: "text-code-property",
  string: "text-code-string",
};
