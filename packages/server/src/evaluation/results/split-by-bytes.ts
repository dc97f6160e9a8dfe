/** Neighbours together, as many as one piece takes of them. What is larger than a piece is one of its own. */
export function splitByBytes<Id>(
  ids: readonly Id[],
  bytesOf: ReadonlyMap<Id, number>,
  piece: { maxIds: number; maxBytes: number },
): Id[][] {
  const pieces: Id[][] = [];
  let last: Id[] = [];
  let lastBytes = 0;
  for (const id of ids) {
    const bytes = bytesOf.get(id) ?? 0;
    if (last.length === 0 || last.length === piece.maxIds || lastBytes + bytes > piece.maxBytes) {
      last = [];
      lastBytes = 0;
      pieces.push(last);
    }
    last.push(id);
    lastBytes += bytes;
  }
  return pieces;
}
