/** Examples for the end of a command's help. */
export function examples(...lines: string[]): string {
  return ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n");
}
