/** For an `LRUCache` of many entries. Told of a `max`, it takes the memory of as many at once: 28 bytes each. */
export function lruLimit(entries: number) {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
