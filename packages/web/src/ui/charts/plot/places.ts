/** The index of the place that is nearest to a position. `positions` are in ascending order. */
export function nearestPlace(positions: readonly number[], to: number): number {
  const next = positions.findIndex((position) => position >= to);
  if (next === -1) return Math.max(0, positions.length - 1);
  const before = positions[next - 1];
  const after = positions[next] ?? to;
  return before !== undefined && to - before <= after - to ? next - 1 : next;
}

/** The index of the place that a key leads to, as it does on any slider; undefined for other keys. -1 is before the first place. */
export function placeAfter(key: string, place: number, last: number): number | undefined {
  if (key === "ArrowRight" || key === "ArrowUp") return Math.min(last, place + 1);
  if (key === "ArrowLeft" || key === "ArrowDown") return Math.max(0, place - 1);
  if (key === "PageDown") return Math.max(0, place - 10);
  if (key === "PageUp") return Math.min(last, place + 10);
  if (key === "Home") return 0;
  return key === "End" ? last : undefined;
}
