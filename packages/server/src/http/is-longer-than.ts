/** Whether a value's JSON has more characters than this, approximately. Stops counting there. */
export function isLongerThan(value: unknown, characters: number): boolean {
  return charactersLeft(value, characters) < 0;
}

function charactersLeft(value: unknown, available: number): number {
  if (typeof value === "string") return available - value.length - 2;
  if (typeof value !== "object" || value === null) return available - 5;
  let left = available - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = charactersLeft(item, left - 1);
      if (left < 0) break;
    }
    return left;
  }
  // Every response passes here: for an object, its keys as a list take a third of the time of `for in`.
  for (const key of Object.keys(value)) {
    left = charactersLeft(Reflect.get(value, key), left - key.length - 4);
    if (left < 0) break;
  }
  return left;
}
