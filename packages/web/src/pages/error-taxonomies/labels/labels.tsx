import type { ErrorTaxonomyRevision } from "@presage/sdk";
import { X } from "lucide-react";
import { useId, useState } from "react";
import { useSetTaxonomyLabel } from "../../../data/taxonomies.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/form/fields.tsx";
import { fieldIssues, issueAt } from "../../../ui/form/form.tsx";
import { TextInput } from "../../../ui/form/inputs.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";

/** A label, with a button to remove it if that is allowed. */
export function LabelBadge({ label, onRemove }: { label: string; onRemove: (() => void) | undefined }) {
  return (
    <Badge tone="accent">
      <span className="flex items-center gap-1">
        <bdi className="truncate">{label}</bdi>
        {onRemove !== undefined && (
          <button
            type="button"
            aria-label={`Remove the label ${label}`}
            title="Remove"
            className="-mr-1.5 inline-flex size-6 shrink-0 items-center justify-center rounded-full hover:bg-hover"
            onClick={onRemove}
          >
            <X aria-hidden />
          </button>
        )}
      </span>
    </Badge>
  );
}

interface SetLabelDialogProps {
  isOpen: boolean;
  onClose(): void;
  revision: ErrorTaxonomyRevision;
  /** All revisions of the taxonomy. */
  revisions: readonly ErrorTaxonomyRevision[];
}

export function SetLabelDialog({ isOpen, onClose, revision, revisions }: SetLabelDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Set a label on revision ${revision.revision}`}
      hint="A profile uses the revision with the label that it names, “production” by default."
    >
      <SetLabelForm revision={revision} revisions={revisions} onSaved={onClose} />
    </Dialog>
  );
}

interface SetLabelFormProps extends Pick<SetLabelDialogProps, "revision" | "revisions"> {
  onSaved(): void;
}

function SetLabelForm({ revision, revisions, onSaved }: SetLabelFormProps) {
  const knownId = useId();
  const [typed, setTyped] = useState("");
  const label = typed.trim();
  const current = revisions.find(({ labels }) => labels.includes(label));
  const isMove = current !== undefined && current.id !== revision.id;
  const known = [...new Set(["production", ...revisions.flatMap(({ labels }) => labels)])].filter(
    (known) => !revision.labels.includes(known),
  );

  const set = useSetTaxonomyLabel(revision.id);
  const issue = issueAt(fieldIssues(set.error), "labels");
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (label !== "") set.mutate(label, { onSuccess: onSaved });
      }}
    >
      <Field label="Label" issue={issue}>
        {(control) => (
          <>
            <TextInput
              {...control}
              list={knownId}
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
            <datalist id={knownId}>
              {known.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <p aria-live="polite" className="text-sm text-warn empty:hidden">
        {isMove &&
          `Revision ${current.revision} has “${label}” now. The label moves to revision ${revision.revision}, and evaluations that use the label will use that revision.`}
      </p>
      {set.error !== null && issue === undefined && <ErrorNotice error={set.error} />}
      <Button
        type="submit"
        variant="primary"
        className="self-end"
        isBusy={set.isPending}
        disabled={label === "" || current?.id === revision.id}
      >
        {isMove ? "Move label" : "Set label"}
      </Button>
    </form>
  );
}
