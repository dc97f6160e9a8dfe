import type { Environment } from "@presage/sdk";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { useSaveEnvironment } from "../../../data/environments.ts";
import { stopKinds, stopLabels } from "../../../parts/episodes.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { FieldGroup, TextField } from "../../../ui/form/fields.tsx";
import {
  bindDraft,
  DraftForm,
  type FieldIssue,
  fieldIssues,
  issueAt,
  useDraft,
} from "../../../ui/form/form.tsx";
import { TextInput } from "../../../ui/form/inputs.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { EnvironmentFields } from "./environment-fields.tsx";
import {
  newEnvironmentDraft,
  readEnvironmentDraft,
  readStops,
  type StopDraft,
  toDraft,
} from "./read-environment-draft.ts";

interface EnvironmentDialogProps {
  isOpen: boolean;
  onClose(): void;
  /** Absent: a new environment. */
  revised?: Environment | undefined;
  onSaved(environment: Environment): void;
}

export function EnvironmentDialog({ isOpen, onClose, revised, onSaved }: EnvironmentDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      isWide
      hasForm
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

const shownPaths = [
  ["name"],
  ["description"],
  ["deployment"],
  ["max_steps"],
  ["stop"],
  ["guards"],
  ["reward"],
  ["real"],
  ["params"],
];

/** Creates an environment, or adds a revision to one. */
function EnvironmentForm({ revised, onSaved }: Omit<EnvironmentDialogProps, "isOpen" | "onClose">) {
  // Someone else may revise the environment in the meantime.
  const [origin] = useState(revised);
  const initial = origin === undefined ? newEnvironmentDraft : toDraft(origin.name, origin.config);
  const key =
    origin === undefined ? "new environment" : `environment ${origin.name} after ${origin.revision}`;
  const stored = useDraft(key, initial);
  const { draft, change } = stored;
  const save = useSaveEnvironment({ onSuccess: stored.discard });
  const { config, issues: own } = readEnvironmentDraft(draft);
  // An empty name is not reported as an issue.
  const wrong = { ...own, ...(draft.name === "" && { name: undefined }) };
  const isWrong = Object.keys(own).length > 0;
  const refused: FieldIssue[] = fieldIssues(save.error, origin === undefined ? "name" : undefined);
  const field = bindDraft(draft, change, refused, wrong);
  const name = draft.name.trim();
  const isSame = origin !== undefined && !stored.isChanged;
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
      stored={stored}
      refused={refused}
      shownPaths={shownPaths}
      revisions={{ before: origin, now: revised }}
    >
      {origin === undefined && (
        <TextField
          label="Name"
          hint="Lower-case letters, digits and hyphens. It is part of addresses and cannot be changed."
          {...field("name")}
          required
        />
      )}
      <TextField label="Description" {...field("description")} />
      <StopRules
        rules={readStops(draft.stop)}
        issue={wrong.stop ?? issueAt(refused, "stop")}
        onChange={(rules) => change({ stop: JSON.stringify(rules) })}
      />
      <EnvironmentFields draft={draft} issues={wrong} refused={refused} field={field} />
    </DraftForm>
  );
}

interface StopRulesProps {
  rules: readonly StopDraft[];
  issue: string | undefined;
  onChange(rules: StopDraft[]): void;
}

/** The rules that end an episode, in the order in which they are tried. */
function StopRules({ rules, issue, onChange }: StopRulesProps) {
  const change = (index: number, part: Partial<StopDraft>) =>
    onChange(rules.map((rule, at) => (at === index ? { ...rule, ...part } : rule)));
  return (
    <FieldGroup
      label="Stop rules"
      hint={
        <>
          Tried in this order after each step. <code className="font-mono">{"{goal}"}</code> stands for the
          task’s goal; patterns are RE2’s.
        </>
      }
      issue={issue}
    >
      <ul className="flex min-w-0 flex-col gap-1.5">
        {rules.map(({ kind, text, outcome }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no identity, and rows have no state
          <li key={index} className="flex min-w-0 flex-wrap items-center gap-1.5 sm:flex-nowrap">
            <Select
              aria-label={`What rule ${index + 1} looks at`}
              className="w-full shrink-0 sm:w-52"
              value={kind}
              options={stopKinds.map((value) => ({ value, label: stopLabels[value] }))}
              onChange={(kind) => change(index, { kind })}
            />
            <TextInput
              aria-label={`Text of rule ${index + 1}`}
              aria-invalid={issue !== undefined && text === "" ? true : undefined}
              className="flex-1 font-mono text-xs!"
              value={text}
              onChange={({ target }) => change(index, { text: target.value })}
            />
            <Select
              aria-label={`Outcome of rule ${index + 1}`}
              className="w-28 shrink-0"
              value={outcome}
              options={["success", "failure"]}
              onChange={(outcome) => change(index, { outcome })}
            />
            <IconButton
              label={`Remove rule ${index + 1}`}
              icon={<X aria-hidden />}
              onClick={() => onChange(rules.filter((_, at) => at !== index))}
            />
          </li>
        ))}
      </ul>
      <Button
        size="small"
        className="self-start"
        icon={<Plus aria-hidden />}
        onClick={() => onChange([...rules, { kind: "output_contains", text: "", outcome: "success" }])}
      >
        Add rule
      </Button>
    </FieldGroup>
  );
}
