import type { DatasetChange } from "@presage/contract";
import { isContainer, type Json } from "./read-json.ts";

const segment = /\.([^.[\]]+)|\[(?:'([^']*)'|(\d+|\*))\]/g;

/** What is left of a document if only some paths count, or all but some; undefined if nothing is. */
export function whatCounts(document: Json, { paths, ignore }: DatasetChange): Json | undefined {
  const isChosen = Boolean(paths);

  /** `open` are the rests of the paths that lead here. */
  function visit(value: Json, open: readonly string[][]): Json | undefined {
    if (open.some(({ length }) => length === 0)) return isChosen ? value : undefined;
    if (open.length === 0 || !isContainer(value)) return isChosen ? undefined : value;
    const kept = Object.entries(value).flatMap(([key, child]): [string, Json][] => {
      const further = open.filter(([next]) => next === key || next === "*").map((path) => path.slice(1));
      const left = visit(child, further);
      return left === undefined ? [] : [[key, left]];
    });
    if (isChosen && kept.length === 0) return undefined;
    return Array.isArray(value) ? kept.map(([, child]) => child) : Object.fromEntries(kept);
  }

  return visit(document, (paths ?? ignore ?? []).map(segmentsOf));
}

function segmentsOf(path: string): string[] {
  return Array.from(path.matchAll(segment), ([, name, quoted, index]) => name ?? quoted ?? index ?? "");
}
