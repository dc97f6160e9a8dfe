/** An input line that cannot be used, for the reason that the message gives. */
export class InvalidLineError extends Error {}

/** An input line as the JSON object that it must be. */
export function parseLine(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new InvalidLineError("the line is no JSON object");
}

/** What zod found wrong, in one line. */
export function describeFaults(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidLineError("the line is no JSON");
  }
}
