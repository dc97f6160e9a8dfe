import { readJsonPointer } from "./json-path.ts";

/** Places that do not count, as a tree with the document's keys. */
export interface IgnoredPaths {
  whole: boolean;
  below: Map<string, IgnoredPaths>;
}

export function readIgnoredPaths(pointers: readonly string[]): IgnoredPaths {
  const root: IgnoredPaths = { whole: false, below: new Map() };
  for (const pointer of pointers) {
    let node = root;
    for (const key of readJsonPointer(pointer) ?? []) {
      const next = node.below.get(key) ?? { whole: false, below: new Map() };
      node.below.set(key, next);
      node = next;
    }
    node.whole = true;
  }
  return root;
}
