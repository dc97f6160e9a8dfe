const mostCharacters = 1_000;

/** A text for the eye: browsers stop painting lines of many thousand characters. */
export function shortenLines(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line))
    .join("\n");
}
