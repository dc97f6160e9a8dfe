export interface TextLine {
  text: string;
  /** In UTF-16 units of the whole text. */
  start: number;
  end: number;
}

/** The lines of a text that are not blank, without white space at their ends. */
export function* textLines(text: string): Generator<TextLine, void> {
  // Lazily: all of them at once take a hundred times the memory of the text.
  for (const { 0: line, index } of text.matchAll(/[^\r\n]+/g)) {
    const said = line.trimEnd();
    if (said !== "") yield { text: said, start: index, end: index + said.length };
  }
}
