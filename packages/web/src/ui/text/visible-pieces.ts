/** A stretch of a text: as it is, or a name for something that has no look of its own or would act on the page. */
export type Piece = string | { name: string; code: string };

// In this order: what colours a terminal, as a whole; controls but tab and newline; separators that break lines; characters that Unicode
// wants invisible, but neither the choice between text and emoji nor the joint inside an emoji; halves of a character.
const unseen =
  /\u001b\[[0-?]{0,32}[ -/]{0,4}[@-~]|[^\P{Cc}\t\n]|[\u2028\u2029]|(?![\ufe0e\ufe0f]|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d\p{Extended_Pictographic})\p{Default_Ignorable_Code_Point}|\p{Cs}/gu;

const names: Record<number, string> = {
  0x7f: "␡",
  0xad: "SHY",
  0x61c: "ALM",
  0x200b: "ZWSP",
  0x200c: "ZWNJ",
  0x200d: "ZWJ",
  0x200e: "LRM",
  0x200f: "RLM",
  0x2028: "LS",
  0x2029: "PS",
  0x202a: "LRE",
  0x202b: "RLE",
  0x202c: "PDF",
  0x202d: "LRO",
  0x202e: "RLO",
  0x2060: "WJ",
  0x2066: "LRI",
  0x2067: "RLI",
  0x2068: "FSI",
  0x2069: "PDI",
  0xfeff: "BOM",
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
