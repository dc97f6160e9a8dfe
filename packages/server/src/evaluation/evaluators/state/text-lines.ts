export interface TextLine {
  text: string;
  /** In UTF-16 units of the whole text. */
  start: number;
  end: number;
}

/** The lines of a text that are not blank, without white space at their ends. */
export function textLines(text: string): IteratorObject<TextLine> {
  // Lazily: all of them at once take a hundred times the memory of the text.
  return text.matchAll(/[^\r\n]+/g).flatMap(({ 0: line, index }) => {
    const said = line.trimEnd();
    return said === "" ? [] : [{ text: said, start: index, end: index + said.length }];
  });
}
