import type { DatasetFormat, RunMode } from "@presage/contract";

/** How a published evaluation measures. */
export interface Protocol {
  /** Absent: the first line tells. */
  format?: DatasetFormat;
  /** As `--evaluator` takes them. */
  evaluators: readonly string[];
  mode: RunMode;
}

/** By the name that `--protocol` takes. docs/evaluations.md says what each profile does. */
export const protocols = {
  mdlm: {
    evaluators: ["exact-match=system:mdlm-exact", "exact-match=system:mdlm-semantic"],
    mode: "teacher-forced",
  },
  word2world: {
    format: "chat",
    evaluators: ["exact-match=system:word2world-exact"],
    mode: "teacher-forced",
  },
  "llm-sim": {
    format: "llm-sim",
    evaluators: ["json-match=system:llm-sim"],
    mode: "teacher-forced",
  },
} as const satisfies Record<string, Protocol>;

export type ProtocolName = keyof typeof protocols;
