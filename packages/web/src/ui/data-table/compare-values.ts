import type { CellValue } from "./data-column.ts";

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Numbers by size, texts as people count: `run 2` is before `run 10`. Absent values are the caller's. */
export function compareValues(one: CellValue, other: CellValue): number {
  if (typeof one === "string" && typeof other === "string") return collator.compare(one, other);
  return Number(one) - Number(other);
}
