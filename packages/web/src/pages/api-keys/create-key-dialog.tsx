import { type FormEvent, useState } from "react";
import { flushSync } from "react-dom";
import { type NewKey, useCreateApiKey } from "../../data/api-keys.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { fieldIssues, focusFirstIssue, issueAt } from "../../ui/form/field-issues.ts";
import { SelectField } from "../../ui/form/select.tsx";
import { TextField } from "../../ui/form/text-field.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { CaptureField } from "./capture-field.tsx";
import { LimitFields } from "./limit-fields.tsx";
import { limitsForm } from "./read-limits.ts";
import { type Expiry, expiries, type NewKeyForm, type NewKeyIssues, readNewKey } from "./read-new-key.ts";
import { ScopesField } from "./scopes-field.tsx";

interface CreateKeyDialogProps {
  isOpen: boolean;
  onClose(): void;
  onCreated(newKey: NewKey): void;
}

const expiryLabels: Record<Expiry, string> = {
  never: "Never",
  "30": "In 30 days",
  "90": "In 90 days",
  date: "On a date",
};

const emptyForm: NewKeyForm = {
  name: "",
  expiry: "90",
  date: "",
  capture: "",
  scopes: [],
  ...limitsForm({}),
};

export function CreateKeyDialog({ isOpen, onClose, onCreated }: CreateKeyDialogProps) {
  const [form, setForm] = useState(emptyForm);
  const [issues, setIssues] = useState<NewKeyIssues>({});
  const { mutate, error, isPending, reset } = useCreateApiKey({
    onCreated,
    onSuccess: () => {
      setForm(emptyForm);
      onClose();
    },
  });

  function change(part: Partial<NewKeyForm>) {
    setForm({ ...form, ...part });
    setIssues({});
    // The server's error was about the previous input.
    if (error !== null) reset();
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const { request, issues } = readNewKey(form, Date.now());
    if (request !== undefined) return mutate(request);
    flushSync(() => setIssues(issues));
    focusFirstIssue(event.currentTarget);
  }

  const serverIssues = issuesOf(error);
  const known = {
    name: issues.name ?? serverIssues.name,
    expires_at: issues.expires_at ?? serverIssues.expires_at,
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Create key"
      hint="The key is shown only once, in the next step."
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <TextField
          label="Name"
          hint="Who or what will use it, for example “rollouts, cluster 2”."
          issue={known.name}
          value={form.name}
          onChange={(name) => change({ name })}
          required
        />
        <SelectField
          label="Expires"
          hint={
            form.expiry === "never"
              ? "The key works until it is revoked."
              : "Requests with the key fail after that."
          }
          issue={form.expiry === "date" ? undefined : known.expires_at}
          value={form.expiry}
          options={expiries.map((value) => ({ value, label: expiryLabels[value] }))}
          onChange={(expiry) => change({ expiry })}
        />
        {form.expiry === "date" && (
          <TextField
            label="Last day"
            hint="The key works until the end of that day."
            issue={known.expires_at}
            type="date"
            value={form.date}
            onChange={(text) => change({ date: text })}
            required
          />
        )}
        <ScopesField value={form.scopes} onChange={(scopes) => change({ scopes })} />
        <LimitFields form={form} issues={issues} onChange={change} />
        <CaptureField value={form.capture} onChange={(capture) => change({ capture })} />
        {error !== null && known.name === undefined && known.expires_at === undefined && (
          <ErrorNotice error={error} />
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={isPending}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function issuesOf(error: unknown): NewKeyIssues {
  const issues = fieldIssues(error);
  return { name: issueAt(issues, "name"), expires_at: issueAt(issues, "expires_at") };
}
