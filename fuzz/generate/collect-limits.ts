import type { Document } from "../document/read-document.ts";

const limitNames = /^(exclusive)?(min|max)/i;
/** Larger limits would make bodies of megabytes, which have tests of their own. */
const largest = 200_000;

/** Every limit in the document, because bugs are common near limits. */
export function collectLimits(document: Document): number[] {
  const limits = new Set([0, 1, 1_000]);
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      if (typeof part === "number" && limitNames.test(name) && Number.isInteger(part)) {
        if (part <= largest) limits.add(part);
      } else collect(part);
    }
  };
  collect(document.schemas);
  collect(document.operations.map(({ parameters }) => parameters));
  return [...limits];
}
