const pattern = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;
const secondsOf = [86_400, 3_600, 60, 1];

/** Milliseconds of an ISO 8601 duration; undefined for one in months or years, which have no certain length. */
export function readDuration(text: string): number | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, ...parts] = match;
  const seconds = secondsOf.reduce((sum, factor, index) => sum + factor * Number(parts[index] ?? 0), 0);
  return seconds * 1_000;
}
