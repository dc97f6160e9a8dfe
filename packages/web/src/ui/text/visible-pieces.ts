/** A stretch of a text: as it is, or a name for something that has no look of its own or would act on the page. */
export type Piece = string | { name: string; code: string };

// In this order: what colours a terminal, as a whole; controls but tab and newline; separators that break lines; characters that Unicode
// wants invisible, but neither the choice between text and emoji nor the joint inside an emoji; halves of a character.
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\u001b\[[0-?]{0,32}[ -/]{0,4}[@-~]|[^\P{Cc}\t\n]|[\u2028\u2029]|(?![\ufe0e\ufe0f]|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d\p{Extended_Pictographic})\p{Default_Ignorable_Code_Point}|\p{Cs}/gu;

const names: Record<number, string> = {
  127: "␡",
  173: "SHY",
  1564: "ALM",
  8203: "ZWSP",
  8204: "ZWNJ",
  8205: "ZWJ",
  8206: "LRM",
  8207: "RLM",
  8232: "LS",
  8233: "PS",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8288: "WJ",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
  65279: "BOM",
};

/** Cuts a text so that nothing in it stays unseen, turns the writing round or moves what stands beside it. */
export function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(unseen)) {
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push(nameOf(match[0]));
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

function nameOf(unseen: string): Piece {
  const point = unseen.codePointAt(0) ?? 0;
  const code = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  const name = point < 0x20 ? String.fromCodePoint(0x2400 + point) : (names[point] ?? code);
  // Only the sequence of a terminal has more, and that is letters, digits and signs.
  return { name: name + unseen.slice(String.fromCodePoint(point).length), code };
}
