/** Reads a date-time of ISO 8601; one without an offset is UTC. */
export function parseExpiry(text: string): Date {
  const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/.test(text);
  return new Date(hasOffset ? text : `${text}Z`);
}
