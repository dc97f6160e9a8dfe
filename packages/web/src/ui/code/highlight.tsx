import { useEffect, useMemo, useState } from "react";
import { Pieces } from "../untrusted-text/inline-text.tsx";
import type { Language, Token, TokenKind } from "./tokenize.ts";

export type Tokenizer = (text: string) => Token[] | undefined;

/** Splits texts into coloured parts; undefined without a language, and until the code for it is loaded. */
export function useTokenizer(language: Language | undefined): Tokenizer | undefined {
  const [tokenize, setTokenize] = useState<(text: string, language: Language) => Token[] | undefined>();
  const isWanted = language !== undefined;
  useEffect(() => {
    if (!isWanted) return;
    let isShown = true;
    import("./tokenize.ts").then(
      (loaded) => isShown && setTokenize(() => loaded.tokenize),
      // A text is readable without colours too.
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, [isWanted]);
  return useMemo(() => {
    if (tokenize === undefined || language === undefined) return undefined;
    return (text: string) => tokenize(text, language);
  }, [tokenize, language]);
}

/** The colour of each kind; other parts have the text's colour. */
export const tokenClass: Record<TokenKind, string | undefined> = {
  comment: "text-ink-3",
  keyword: "text-code-keyword",
  number: "text-code-number",
  plain: undefined,
  property: "text-code-property",
  string: "text-code-string",
};

/** Renders untrusted text in coloured parts, each by `Pieces`; uncoloured without a tokenizer. */
export function ColoredPieces({ text, tokenize }: { text: string; tokenize: Tokenizer | undefined }) {
  const tokens = useMemo(() => tokenize?.(text), [text, tokenize]);
  if (tokens === undefined) return <Pieces text={text} />;
  return tokens.map(({ kind, text }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text is rendered as a whole
    <span key={index} className={tokenClass[kind]}>
      <Pieces text={text} />
    </span>
  ));
}
