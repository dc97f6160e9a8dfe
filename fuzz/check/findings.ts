import type { Oddity, Plan } from "../generate/plan.ts";
import type { WrittenRequest } from "../send/write-request.ts";

/** A way in which the server is wrong, however many requests show it. */
export interface Finding {
  /** The same for the same fault. */
  id: string;
  detail: string | undefined;
  /** How many requests showed it. */
  count: number;
  /** The shortest of them. */
  example: Example | undefined;
}

export interface Example {
  index: number;
  base: Plan;
  oddities: Oddity[];
  /** Whether parts are left out that are no oddities; then the oddities cannot be applied again. */
  isCut: boolean;
  plan: Plan;
  written: WrittenRequest;
  /** The start of what was answered. */
  answered: string;
}

export interface Findings {
  add(id: string, detail: string | undefined, example: Example | undefined): void;
  all(): Finding[];
}

export function createFindings(): Findings {
  const byId = new Map<string, Finding>();
  return {
    add(id, detail, example) {
      const known = byId.get(id);
      if (known === undefined) {
        byId.set(id, { id, detail, count: 1, example });
        return;
      }
      known.count += 1;
      if (example !== undefined && sizeOf(example) < sizeOf(known.example)) known.example = example;
    },
    all: () => [...byId.values()],
  };
}

function sizeOf(example: Example | undefined): number {
  return example?.written.bytes.length ?? Number.POSITIVE_INFINITY;
}
