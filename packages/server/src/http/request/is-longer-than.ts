/** Whether a value's JSON has more characters than this, approximately. Stops counting there. */
export function isLongerThan(value: unknown, characters: number): boolean {
  return charactersLeft(value, characters) < 0;
}

function charactersLeft(value: unknown, available: number): number {
  if (typeof value === "string") return available - value.length - 2;
  if (typeof value !== "object" || value === null) return available - 5;
  const isList = Array.isArray(value);
  let left = available - 2;
  for (const key in value) {
    left = charactersLeft(Reflect.get(value, key), left - (isList ? 1 : key.length + 4));
    if (left < 0) break;
  }
  return left;
}
