import { defaultProfileName } from "@presage/contract/defaults";
import { Sparkles } from "lucide-react";
import { formatCount } from "../../format/numbers.ts";
import { plainName } from "../../format/words.ts";
import { Badge } from "../../ui/badge.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { Time } from "../../ui/time.tsx";
import type { EvaluatorRow } from "./evaluator-rows.ts";

export const evaluatorColumns: readonly DataColumn<EvaluatorRow>[] = [
  {
    id: "profile",
    label: "Evaluator and profile",
    hint: "An evaluator’s date is shown only where two versions of it were used in the period.",
    value: ({ profileName, name }) => [name, profileName].filter(Boolean).join(", "),
    cell: ({ profileName, profile, name, family }) => (
      <span className="inline-flex max-w-full items-center gap-x-2 max-md:flex-wrap">
        <span className="max-w-full shrink-0 truncate font-medium text-ink" title={family?.description}>
          {name}
        </span>
        {family?.uses_model && (
          <Sparkles className="size-3.5 shrink-0 text-accent-ink" aria-label="uses a model" />
        )}
        {profileName !== null && (
          <span
            // The default profile is meant unless another is named.
            className={profileName === defaultProfileName ? "sr-only" : "truncate text-ink-2"}
            title={profile?.description ?? undefined}
          >
            {plainName(profileName)}
          </span>
        )}
        {profile?.archived_at != null && <Badge tone="warn">Archived</Badge>}
      </span>
    ),
    widthPx: 208,
    isElastic: true,
    isFixed: true,
  },
  {
    id: "description",
    label: "Description",
    value: ({ profile, family }) => profile?.description || family?.description,
    cell: ({ profile, family }) => (
      <span className="line-clamp-2 whitespace-normal">{profile?.description || family?.description}</span>
    ),
    isElastic: true,
    widthPx: 208,
  },
  {
    id: "uses",
    label: "Uses",
    hint: "Evaluations in the period, with all revisions, including those of runs.",
    value: ({ uses }) => uses,
    cell: ({ uses }) => (uses === 0 ? <span className="text-ink-3">–</span> : formatCount(uses)),
    isNumber: true,
    widthPx: 76,
  },
  {
    id: "failed",
    label: "No verdict",
    hint: "Evaluations in the period that failed or had no usable input.",
    value: ({ failed }) => failed,
    cell: ({ failed }) =>
      failed === 0 ? (
        <span className="text-ink-3">–</span>
      ) : (
        <span className="text-warn">{formatCount(failed)}</span>
      ),
    isNumber: true,
    widthPx: 92,
  },
  {
    id: "revision",
    label: "Revision",
    value: ({ profile }) => (profile === undefined || profile.is_managed ? null : profile.revision),
    cell: ({ profile }) =>
      profile === undefined ? "Imported" : profile.is_managed ? "Built-in" : `r${profile.revision}`,
    isNewestFirst: true,
    widthPx: 76,
  },
  {
    id: "changed",
    label: "Changed",
    value: ({ profile }) => (profile === undefined || profile.is_managed ? null : profile.created_at),
    cell: ({ profile }) =>
      profile === undefined || profile.is_managed ? (
        <span className="text-ink-3">–</span>
      ) : (
        <Time at={profile.created_at} />
      ),
    isNewestFirst: true,
    widthPx: 128,
  },
  {
    id: "evaluator-id",
    label: "Evaluator ID",
    hint: "As the API takes it; the name without its date is the newest version.",
    value: ({ evaluatorId }) => evaluatorId,
    cell: ({ evaluatorId }) => <code className="font-mono text-xs">{evaluatorId ?? "–"}</code>,
    isExtra: true,
    widthPx: 216,
  },
];
