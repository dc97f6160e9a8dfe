import type { Mutation, Plan } from "../generate/plan.ts";
import type { WrittenRequest } from "../send/write-request.ts";

/** A bug of the server, however many requests show it. */
export interface Finding {
  /** Equal for equal violations. */
  id: string;
  detail: string | undefined;
  /** Number of requests that showed it. */
  count: number;
  /** The shortest of them. */
  example: Example | undefined;
}

export interface Example {
  index: number;
  base: Plan;
  mutations: Mutation[];
  /** Whether parts other than mutations were removed; then the mutations cannot be applied again. */
  isCut: boolean;
  plan: Plan;
  written: WrittenRequest;
  /** The start of the response. */
  response: string;
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
