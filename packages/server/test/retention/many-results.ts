import type { StoredFields } from "../support/store/store-results.ts";

export const day = 86_400_000_000;
export const firstDay = Date.UTC(2026, 5, 1) * 1000;
const names = ["prod", "test", 'a "quoted" \\ value', "", undefined];

/** Results of five days, of all kinds that are counted differently. */
export function resultAt(index: number): StoredFields {
  const score = [0, 1, 0.25, 0.0125, 0.333333, undefined][index % 6];
  const env = names[index % names.length];
  const findsErrors = index % 8 === 0;
  const extra = {
    error_taxonomy_revision_id: "taxonomy",
    categories: [{ path: ["form", index % 3 === 0 ? "length" : "order"] }],
  };
  return {
    createdAt: firstDay + (index % 5) * day + index * 1_000,
    evaluatorId: index % 2 === 0 ? "exact-match-2026-11-01" : "theirs",
    evaluatorFamily: findsErrors ? "error-taxonomy" : index % 2 === 0 ? "exact-match" : "",
    ...(index % 3 === 0
      ? {
          profile: { name: "a", publicId: "aaaaaaaa-0000-4000-8000-000000000000", revision: 1 + (index % 4) },
        }
      : {}),
    metadata: {
      app: index % 4 === 0 ? "shop" : "default",
      ...(index % 7 === 0 ? { runId: "a run that is not there" } : {}),
      tags: { ...(env === undefined ? {} : { env }), "trajectory_id ": `t${index}` },
    },
    outcome:
      index % 9 === 0
        ? { status: "failed", errorMessage: "timeout: too long" }
        : {
            status: "success",
            ...(score === undefined ? {} : { score, pass: score >= 0.25 }),
            ...(findsErrors ? { extra } : {}),
          },
  };
}
