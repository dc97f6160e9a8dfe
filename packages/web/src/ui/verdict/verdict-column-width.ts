/** Characters of a name that a narrow column has room for. */
const shortNameCharacters = 14;

/** The width of a column of verdicts by the evaluator of this name. */
export function verdictColumnWidthPx(name: string): number {
  return name.length > shortNameCharacters ? 152 : 108;
}
