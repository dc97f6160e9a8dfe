/** The parsed value, or why the text is not JSON. */
export function parseJson(text: string): { value: unknown } | { issue: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { issue: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
