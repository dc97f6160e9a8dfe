import type { Environment } from "@presage/sdk";
import { useState } from "react";
import { useSaveEnvironment } from "../../../data/environments/environments.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { DraftForm } from "../../../ui/form/draft-form.tsx";
import { type FieldIssue, fieldIssues, issueAt, otherIssues } from "../../../ui/form/field-issues.ts";
import { OtherIssueList } from "../../../ui/form/other-issue-list.tsx";
import { TextField } from "../../../ui/form/text-field.tsx";
import { useDraft } from "../../../ui/form/use-draft.ts";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { EnvironmentFields } from "./environment-fields.tsx";
import { newEnvironmentDraft, readEnvironmentDraft, readStops, toDraft } from "./read-environment-draft.ts";
import { StopRules } from "./stop-rules.tsx";

interface EnvironmentFormProps {
  /** Absent: a new one. */
  revised: Environment | undefined;
  onSaved(environment: Environment): void;
}

const shownFields = ["name", "description", "deployment", "max_steps", "stop", "guards", "reward", "params"];

/** Makes an environment, or adds a revision to one. */
function EnvironmentForm({ revised, onSaved }: EnvironmentFormProps) {
  // Someone else may revise it in the meantime.
  const [origin] = useState(revised);
  const initial = origin === undefined ? newEnvironmentDraft : toDraft(origin.name, origin.config);
  const key =
    origin === undefined ? "new environment" : `environment ${origin.name} after ${origin.revision}`;
  const { draft, isChanged, change, discard } = useDraft(key, initial);
  const save = useSaveEnvironment({ onSuccess: discard });
  const { config, issues: own } = readEnvironmentDraft(draft);
  // The name is only complained of once there is one.
  const wrong = { ...own, ...(draft.name === "" && { name: undefined }) };
  const isWrong = Object.keys(own).length > 0;
  const refused: FieldIssue[] = fieldIssues(save.error, origin === undefined ? "name" : undefined);
  const elsewhere = otherIssues(
    refused,
    shownFields.map((field) => [field]),
  );
  const name = draft.name.trim();
  const isSame = origin !== undefined && !isChanged;
  return (
    <DraftForm
      save={save}
      request={
        isWrong || isSame
          ? undefined
          : origin === undefined
            ? { request: { name, ...config } }
            : { name: origin.name, changes: config }
      }
      onSaved={onSaved}
      submitLabel={origin === undefined ? "Create environment" : `Save as revision ${origin.revision + 1}`}
      isChanged={isChanged}
      discard={discard}
    >
      {origin === undefined && (
        <TextField
          label="Name"
          hint="Lower-case letters, digits and hyphens. It is part of addresses and cannot be changed."
          issue={wrong.name ?? issueAt(refused, "name")}
          value={draft.name}
          onChange={(text) => change({ name: text })}
          required
        />
      )}
      <TextField
        label="Description"
        issue={issueAt(refused, "description")}
        value={draft.description}
        onChange={(description) => change({ description })}
      />
      <StopRules
        rules={readStops(draft.stop)}
        issue={wrong.stop ?? issueAt(refused, "stop")}
        onChange={(rules) => change({ stop: JSON.stringify(rules) })}
      />
      <EnvironmentFields draft={draft} issues={wrong} refused={refused} change={change} />
      <OtherIssueList issues={elsewhere} />
      {revised?.revision !== origin?.revision && !save.isPending && (
        <p role="status" className="text-sm text-warn">
          Revision {revised?.revision} was created while you were editing. Saving overwrites its changes.
        </p>
      )}
      {save.error !== null && refused.length === 0 && <ErrorNotice error={save.error} />}
    </DraftForm>
  );
}

interface EnvironmentDialogProps {
  isOpen: boolean;
  onClose(): void;
  revised?: Environment | undefined;
  onSaved(environment: Environment): void;
}

export function EnvironmentDialog({ isOpen, onClose, revised, onSaved }: EnvironmentDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      isWide
      title={revised === undefined ? "New environment" : `Revise ${revised.name}`}
      hint={
        revised === undefined
          ? "Says what predicts, when an episode ends, and what the reward is. Tasks are added next."
          : "Episodes that have begun keep the revision that they were started with."
      }
    >
      <EnvironmentForm revised={revised} onSaved={onSaved} />
    </Dialog>
  );
}
