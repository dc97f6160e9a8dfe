import { SugarHigh, tokenize as split } from "sugar-high/core";
import * as json from "sugar-high/lang/json";
import * as python from "sugar-high/lang/python";
import * as shell from "sugar-high/lang/shell";
import * as typescript from "sugar-high/lang/typescript";

const languages = { json, python, shell, typescript };

export type Language = keyof typeof languages;
export type TokenKind = "comment" | "keyword" | "number" | "plain" | "property" | "string";

export interface Token {
  kind: TokenKind;
  text: string;
}

/** Longer texts would hold up the page: the slowest language takes 10 µs a character. */
const maxCharacters = 20_000;

/** The text in coloured parts, which together are exactly the text; undefined if it is too long. */
export function tokenize(text: string, language: Language): Token[] | undefined {
  if (text.length > maxCharacters) return undefined;
  const tokens: Token[] = [];
  for (const [type, part] of split(text, languages[language])) {
    const kind = kindOf(SugarHigh.TokenTypes[type], part, language);
    const last = tokens.at(-1);
    if (last !== undefined && (last.kind === kind || part.trim() === "")) last.text += part;
    else tokens.push({ kind, text: part });
  }
  // People must see the text itself, whatever a tokenizer makes of it.
  return tokens.map((token) => token.text).join("") === text ? tokens : undefined;
}

function kindOf(type: string | undefined, part: string, language: Language): TokenKind {
  switch (type) {
    case "comment":
    case "keyword":
    case "string":
      return type;
    case "property":
      return language === "json" ? "property" : "plain";
    // Numbers, and words that begin with a capital letter.
    case "class":
      return /^[\d.]/.test(part) ? "number" : "plain";
    default:
      return "plain";
  }
}
