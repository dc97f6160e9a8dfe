import { splitWords, trimPythonEnd } from "./split-words.ts";

/** ASCII punctuation but the four marks that may belong to a word or a number: `'`, `,`, `-`, `.`. */
const symbol = /[!-&(-+/:-@[-`{-~]/g;

/** Splits a text as `mteval-v13a` does, the script behind the BLEU scores of WMT and of sacrebleu. */
export function tokenise13a(text: string): string[] {
  const line = trimPythonEnd(text)
    .replaceAll("<skipped>", "")
    .replaceAll("-\n", "")
    .replaceAll("\n", " ")
    // One after the other, so that entities created by a replacement are decoded too.
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
  const spaced = ` ${line} `
    .replace(symbol, " $& ")
    .replace(/([^0-9])([.,])/g, "$1 $2 ")
    .replace(/([.,])([^0-9])/g, " $1 $2")
    .replace(/([0-9])(-)/g, "$1 $2 ");
  return splitWords(spaced);
}
