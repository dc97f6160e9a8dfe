/** Writes lines for a person, to standard error unless they are what the command was asked for. A terminal gets them wrapped between words; longer words, such as addresses, stay whole. */
export function printNotice(text: string, stream: NodeJS.WriteStream = process.stderr): void {
  const { columns } = stream;
  const lines = text.split("\n");
  stream.write(`${(columns ? lines.map((line) => wrap(line, columns)) : lines).join("\n")}\n`);
}

/** The lines of an indented line are indented as it is. */
function wrap(line: string, width: number): string {
  const indentation = /^ */.exec(line)?.[0] ?? "";
  const wrapped = Bun.wrapAnsi(line.slice(indentation.length), Math.max(1, width - indentation.length));
  return wrapped.replaceAll(/^/gm, indentation);
}
