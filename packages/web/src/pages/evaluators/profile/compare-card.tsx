import type { EvaluatorProfile } from "@presage/sdk";
import { Card } from "../../../ui/card.tsx";
import { configChanges } from "../../../ui/config-changes/config-changes.ts";
import { RevisionChanges } from "../../../ui/config-changes/revision-changes.tsx";
import { RevisionSelect } from "../../../ui/form/revision-select.tsx";

interface CompareCardProps {
  /** Newest first; at least two. */
  revisions: readonly EvaluatorProfile[];
  before: EvaluatorProfile;
  after: EvaluatorProfile;
  onChange(choice: { from: number; to: number }): void;
}

/** What changed between two revisions of a profile. */
export function CompareCard({ revisions, before, after, onChange }: CompareCardProps) {
  const numbered = revisions.map(({ revision }) => ({ revision }));
  const changes = configChanges(before.config, after.config);
  const [old, now] = [before.description ?? "", after.description ?? ""];
  if (old !== now) changes.push({ name: "description", before: old, after: now });
  return (
    <Card
      title="What changed"
      actions={
        <div className="flex w-full items-center gap-2 text-sm text-ink-2 sm:w-auto">
          from
          <RevisionSelect
            label="From revision"
            revisions={numbered}
            newest={numbered[0]?.revision ?? 1}
            value={before.revision}
            onChange={(from) => onChange({ from, to: after.revision })}
          />
          to
          <RevisionSelect
            label="To revision"
            revisions={numbered}
            newest={numbered[0]?.revision ?? 1}
            value={after.revision}
            onChange={(to) => onChange({ from: before.revision, to })}
          />
        </div>
      }
    >
      <RevisionChanges changes={changes} before={before.revision} after={after.revision} />
    </Card>
  );
}
