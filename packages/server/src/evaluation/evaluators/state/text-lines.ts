export interface TextLine {
  text: string;
  /** In UTF-16 units of the whole text. */
  start: number;
  end: number;
}

/** The lines of a text that hold something. White space at a line's end does not count; an indent does. */
export function textLines(text: string): IteratorObject<TextLine> {
  // One after the other: all of them at once take a hundred times the text's memory.
  return text.matchAll(/[^\r\n]+/g).flatMap(({ 0: line, index }) => {
    const said = line.trimEnd();
    return said === "" ? [] : [{ text: said, start: index, end: index + said.length }];
  });
}
