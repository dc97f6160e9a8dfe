import { useEffect, useMemo, useState } from "react";
import type { Language, Token } from "./tokenize.ts";

export type Tokenizer = (text: string) => Token[] | undefined;

/** Splits texts into coloured parts; undefined until the code for that is loaded, and without a language. */
export function useTokenizer(language: Language | undefined): Tokenizer | undefined {
  const [tokenize, setTokenize] = useState<(text: string, language: Language) => Token[] | undefined>();
  const isWanted = language !== undefined;
  useEffect(() => {
    if (!isWanted) return;
    let isShown = true;
    import("./tokenize.ts").then(
      (loaded) => isShown && setTokenize(() => loaded.tokenize),
      // Without colours a text is as readable.
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
