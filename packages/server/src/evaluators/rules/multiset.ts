/** How often each item occurs. */
export type Multiset = ReadonlyMap<string, number>;

export function countItems(items: Iterable<string>): Multiset {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/** Items of the first that the second lacks, as often as it lacks them. */
export function subtract(from: Multiset, what: Multiset): Multiset {
  const rest = new Map<string, number>();
  if (from === what) return rest;
  for (const [item, count] of from) {
    const left = count - (what.get(item) ?? 0);
    if (left > 0) rest.set(item, left);
  }
  return rest;
}

export function sizeOf(items: Multiset): number {
  let size = 0;
  for (const count of items.values()) size += count;
  return size;
}

/** How many items two multisets have in common. */
export function overlapOf(one: Multiset, other: Multiset): number {
  let shared = 0;
  for (const [item, count] of one) shared += Math.min(count, other.get(item) ?? 0);
  return shared;
}
