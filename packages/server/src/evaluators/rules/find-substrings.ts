export interface Occurrence {
  substring: string;
  /** In UTF-16 units of the text. */
  start: number;
  end: number;
}

/** The first occurrences in the order of the text, and all substrings that were found. Occurrences of one substring do not overlap. */
export function findSubstrings(
  text: string,
  substrings: readonly string[],
  ignoreCase: boolean,
  maxOccurrences: number,
): { occurrences: Occurrence[]; found: Set<string> } {
  const searched = ignoreCase ? foldCase(text) : text;
  const found = new Set<string>();
  const occurrences: Occurrence[] = [];
  for (const substring of substrings) {
    const sought = ignoreCase ? foldCase(substring) : substring;
    let start = searched.indexOf(sought);
    for (let count = 0; start >= 0 && count < maxOccurrences; count += 1) {
      found.add(substring);
      occurrences.push({ substring, start, end: start + sought.length });
      start = searched.indexOf(sought, start + sought.length);
    }
  }
  occurrences.sort((one, other) => one.start - other.start || one.end - other.end);
  return { occurrences: occurrences.slice(0, maxOccurrences), found };
}

/** Lower case of the same length, so that positions stay correct: `İ`, which would become two characters, is left as it is. */
function foldCase(text: string): string {
  const lower = text.toLowerCase();
  const folded =
    lower.length === text.length
      ? lower
      : Array.from(text, (character) => {
          const one = character.toLowerCase();
          return one.length === character.length ? one : character;
        }).join("");
  // The lower case of a sigma depends on its place in the word, which a substring does not know.
  return folded.replaceAll("ς", "σ");
}
