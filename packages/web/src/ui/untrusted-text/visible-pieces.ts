/** A part of a text, or the name of invisible or layout-changing characters. */
export type Piece = string | { name: string; codes: string };

const maxName = 500;
const maxCodes = 100;

// In order: terminal colour sequences; control characters except tab and newline; line and paragraph separators; characters
// that Unicode ignores by default, except emoji variation selectors and joiners inside emoji; lone surrogates.
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what to find
  /\u001b\[[0-?]{0,32}[ -/]{0,4}[@-~]|[^\P{Cc}\t\n]|[\u2028\u2029]|(?![\ufe0e\ufe0f]|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d\p{Extended_Pictographic})\p{Default_Ignorable_Code_Point}|\p{Cs}/gu;

/** Splits a text so that nothing in it is invisible, changes the text direction or affects what is around it. */
export function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(unseen)) {
    if (match.index > end) pieces.push(text.slice(end, match.index));
    const named = nameOf(match[0]);
    const last = pieces.at(-1);
    // Merged, since a browser cannot lay out thousands of elements in a row quickly.
    if (typeof last === "object" && last.name.length < maxName) {
      last.name += ` ${named.name}`;
      if (last.codes.length < maxCodes) last.codes += ` ${named.codes}`;
    } else pieces.push(named);
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

function nameOf(unseen: string): { name: string; codes: string } {
  const point = unseen.codePointAt(0) ?? 0;
  const character = String.fromCodePoint(point);
  const codes = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  // Only terminal sequences have more characters, which are printable.
  return { name: (characterNames.get(character) ?? codes) + unseen.slice(character.length), codes };
}

const controls =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US";

/** Unicode's abbreviations for invisible characters. */
const characterNames: ReadonlyMap<string, string> = new Map([
  ...controls.split(" ").map((name, code): [string, string] => [String.fromCharCode(code), name]),
  ["\u007f", "DEL"],
  ["\u00ad", "SHY"],
  ["\u061c", "ALM"],
  ["\u200b", "ZWSP"],
  ["\u200c", "ZWNJ"],
  ["\u200d", "ZWJ"],
  ["\u200e", "LRM"],
  ["\u200f", "RLM"],
  ["\u2028", "LS"],
  ["\u2029", "PS"],
  ["\u202a", "LRE"],
  ["\u202b", "RLE"],
  ["\u202c", "PDF"],
  ["\u202d", "LRO"],
  ["\u202e", "RLO"],
  ["\u2060", "WJ"],
  ["\u2066", "LRI"],
  ["\u2067", "RLI"],
  ["\u2068", "FSI"],
  ["\u2069", "PDI"],
  ["\ufeff", "BOM"],
]);
