/** What a JSON text says, or why it is none. */
export function parseJson(text: string): { value: unknown } | { issue: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { issue: `This is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
