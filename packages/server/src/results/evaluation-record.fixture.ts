import type { EvaluationRecord } from "./result.ts";

/** An ordinary result, which tests change where it matters. */
export const ordinaryRecord: EvaluationRecord = {
  accountId: "account",
  evaluatorId: "exact-match-2026-11-21",
  evaluatorFamily: "exact-match",
  profile: { name: "system:default", publicId: "11111111-1111-4111-8111-111111111111", revision: 1 },
  explainStrategy: "always",
  isExternal: false,
  sample: { input: "in", output: "out" },
  metadata: { app: "default" },
  outcome: { status: "success", pass: true, score: 1 },
};
