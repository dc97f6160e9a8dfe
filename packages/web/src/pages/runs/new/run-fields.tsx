import { type FieldIssue, issueAt } from "../../../ui/form/field-issues.ts";
import { TextField } from "../../../ui/form/text-field.tsx";
import type { ReadRunDraft, RunDraft } from "./read-run-draft.ts";

interface RunFieldsProps {
  draft: RunDraft;
  issues: ReadRunDraft["issues"];
  refused: readonly FieldIssue[];
  onChange(part: Partial<RunDraft>): void;
}

/** What the run is called, and how it proceeds. */
export function RunFields({ draft, issues, refused, onChange }: RunFieldsProps) {
  return (
    <div className="flex flex-col gap-3 px-4 py-3">
      <TextField
        label="Name"
        hint="Optional. Need not be unique."
        issue={issueAt(refused, "name")}
        value={draft.name}
        onChange={(name) => onChange({ name })}
      />
      <TextField
        label="Repeats"
        hint="Predictions per sample, up to 20."
        issue={issues.repeats ?? issueAt(refused, "repeats")}
        value={draft.repeats}
        onChange={(repeats) => onChange({ repeats })}
      />
      <TextField
        label="At once"
        hint="Maximum concurrent predictions, up to 256. Live requests go first."
        issue={issues.concurrency ?? issueAt(refused, "concurrency")}
        value={draft.concurrency}
        onChange={(concurrency) => onChange({ concurrency })}
      />
    </div>
  );
}
