import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { Tag } from "lucide-react";
import { useState } from "react";
import { useRefusal } from "../../../data/accounts.ts";
import { useRemoveTaxonomyLabel } from "../../../data/taxonomies.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { Card } from "../../../ui/card.tsx";
import { ConfirmDialog } from "../../../ui/dialog.tsx";
import { RevisionSelect } from "../../../ui/form/select.tsx";
import { Time } from "../../../ui/time.tsx";
import { LabelBadge, SetLabelDialog } from "./labels.tsx";

interface RevisionBarProps {
  /** Newest first. */
  revisions: readonly ErrorTaxonomyRevision[];
  revision: ErrorTaxonomyRevision;
  isBuiltIn: boolean;
  onChoose(revision: number): void;
}

/** Selects the revision to show, and manages its labels. */
export function RevisionBar({ revisions, revision, isBuiltIn, onChoose }: RevisionBarProps) {
  const isFixed = useRefusal("evaluate") !== undefined || isBuiltIn;
  const [isSetOpen, setSetOpen] = useState(false);
  const [toRemove, setToRemove] = useState<string>();
  return (
    <Card>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-3 px-4 py-3 text-sm">
        <span className="flex items-center gap-2">
          <span className="text-ink-2">Revision</span>
          <RevisionSelect
            label="Revision"
            revisions={revisions.map(({ revision, labels }) => ({ revision, note: labels.join(", ") }))}
            newest={revisions[0]?.revision ?? 1}
            value={revision.revision}
            onChange={onChoose}
          />
        </span>
        {!isBuiltIn && (
          <span className="text-ink-2">
            Created <Time at={revision.created_at} />
          </span>
        )}
        <div className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="text-ink-2">Labels</span>
          {revision.labels.length === 0 && <span className="text-ink-3">None</span>}
          {revision.labels.length > 0 && (
            <ul className="flex min-w-0 flex-wrap gap-1.5">
              {revision.labels.map((label) => (
                <li key={label} className="min-w-0">
                  <LabelBadge label={label} onRemove={isFixed ? undefined : () => setToRemove(label)} />
                </li>
              ))}
            </ul>
          )}
          {!isBuiltIn && (
            <AllowedButton
              needs="evaluate"
              size="small"
              icon={<Tag aria-hidden />}
              onClick={() => setSetOpen(true)}
            >
              Set label
            </AllowedButton>
          )}
        </div>
      </div>
      <SetLabelDialog
        isOpen={isSetOpen}
        onClose={() => setSetOpen(false)}
        revision={revision}
        revisions={revisions}
      />
      <RemoveLabelDialog label={toRemove} revision={revision} onClose={() => setToRemove(undefined)} />
    </Card>
  );
}

interface RemoveLabelDialogProps {
  /** Undefined: closed. */
  label: string | undefined;
  revision: ErrorTaxonomyRevision;
  onClose(): void;
}

function RemoveLabelDialog({ label, revision, onClose }: RemoveLabelDialogProps) {
  const remove = useRemoveTaxonomyLabel(revision.id);
  return (
    <ConfirmDialog
      isOpen={label !== undefined}
      onClose={onClose}
      title={`Remove the label ${label ?? ""}?`}
      confirmLabel="Remove label"
      change={remove}
      onConfirm={() => label !== undefined && remove.mutate(label, { onSuccess: onClose })}
    >
      Evaluations whose profile uses this label fail until a revision of{" "}
      <bdi>{revision.error_taxonomy_name}</bdi> has it again.
    </ConfirmDialog>
  );
}
