import { scopesOfRole } from "@presage/contract/permissions";
import type { KeyScope } from "@presage/sdk";
import { type FormEvent, useState } from "react";
import { flushSync } from "react-dom";
import { useRole } from "../../data/accounts.ts";
import { type NewKey, useCreateApiKey } from "../../data/api-keys.ts";
import { describeCapture } from "../../format/words.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { FieldGroup, SelectField, TextField } from "../../ui/form/fields.tsx";
import { DialogButtons, fieldIssues, focusFirstIssue, issueAt } from "../../ui/form/form.tsx";
import { Checkbox } from "../../ui/form/inputs.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import {
  type Expiry,
  expiries,
  type LimitIssues,
  type LimitsForm,
  limitsForm,
  type NewKeyForm,
  type NewKeyIssues,
  readNewKey,
} from "./read-key-form.ts";

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
    // The server's error refers to the previous input.
    if (error !== null) reset();
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const { request, issues } = readNewKey(form, Date.now());
    if (request !== undefined) return mutate(request);
    flushSync(() => setIssues(issues));
    focusFirstIssue(event.currentTarget);
  }

  const known = { ...issuesOf(error), ...issues };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      hasForm
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
        <ExpiryFields form={form} issue={known.expires_at} onChange={change} />
        <ScopesField value={form.scopes} onChange={(scopes) => change({ scopes })} />
        <LimitFields form={form} issues={issues} onChange={change} />
        <CaptureField value={form.capture} onChange={(capture) => change({ capture })} />
        {error !== null && known.name === undefined && known.expires_at === undefined && (
          <ErrorNotice error={error} />
        )}
        <DialogButtons onCancel={onClose} isBusy={isPending}>
          Create key
        </DialogButtons>
      </form>
    </Dialog>
  );
}

interface ExpiryFieldsProps {
  form: NewKeyForm;
  issue: string | undefined;
  onChange(part: Partial<NewKeyForm>): void;
}

function ExpiryFields({ form, issue, onChange }: ExpiryFieldsProps) {
  return (
    <>
      <SelectField
        label="Expires"
        hint={
          form.expiry === "never"
            ? "The key works until it is revoked."
            : "Requests with the key fail after that."
        }
        issue={form.expiry === "date" ? undefined : issue}
        value={form.expiry}
        options={expiries.map((value) => ({ value, label: expiryLabels[value] }))}
        onChange={(expiry) => onChange({ expiry })}
      />
      {form.expiry === "date" && (
        <TextField
          label="Last day"
          hint="The key works until the end of that day."
          issue={issue}
          type="date"
          value={form.date}
          onChange={(text) => onChange({ date: text })}
          required
        />
      )}
    </>
  );
}

function issuesOf(error: unknown): NewKeyIssues {
  const issues = fieldIssues(error);
  return { name: issueAt(issues, "name"), expires_at: issueAt(issues, "expires_at") };
}

const settings = ["off", "failures", "0.01", "0.1", "all"];

interface CaptureFieldProps {
  /** Empty: the server's setting. */
  value: string;
  onChange(value: string): void;
}

/** Which predictions of a key are stored. A share that was set elsewhere stays selectable. */
export function CaptureField({ value, onChange }: CaptureFieldProps) {
  const offered = value === "" || settings.includes(value) ? settings : [...settings, value];
  return (
    <SelectField
      label="Stored predictions"
      hint="With their texts, readable by everyone in your account."
      value={value}
      options={[
        { value: "", label: "The server’s setting" },
        ...offered.map((setting) => ({ value: setting, label: capitalise(describeCapture(setting)) })),
      ]}
      onChange={onChange}
    />
  );
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const fields = [
  { name: "rate_limit_rpm", label: "Requests per minute" },
  { name: "max_in_flight", label: "Requests at once" },
] as const;

interface LimitFieldsProps {
  form: LimitsForm;
  issues: LimitIssues;
  onChange(part: Partial<LimitsForm>): void;
}

/** The fields of a key's limits, side by side. */
export function LimitFields({ form, issues, onChange }: LimitFieldsProps) {
  return (
    <div className="grid grid-cols-2 gap-3">
      {fields.map(({ name, label }) => (
        <TextField
          key={name}
          label={label}
          hint="If empty, the server’s limit applies."
          issue={issues[name]}
          inputMode="numeric"
          className="tabular-nums"
          value={form[name]}
          onChange={(text) => onChange({ [name]: text })}
        />
      ))}
    </div>
  );
}

const scopeWords: Record<KeyScope, string> = {
  predict: "Predict, play episodes",
  evaluate: "Evaluate, change datasets and runs",
  read: "Read",
  manage: "Manage keys and the account",
};

interface ScopesFieldProps {
  /** Empty: everything that the user may do. */
  value: readonly KeyScope[];
  onChange(value: KeyScope[]): void;
}

/** Which of its user's rights a key has. */
function ScopesField({ value, onChange }: ScopesFieldProps) {
  const role = useRole();
  const offered = role === undefined ? [] : scopesOfRole(role);
  const hint =
    value.length === 0
      ? "Without a choice, the key may do everything that your role allows."
      : "The key may do nothing else, and never more than your role allows. This cannot be changed later.";
  return (
    <FieldGroup label="Scopes" hint={hint}>
      <div className="grid grid-cols-1 gap-1.5 sm:grid-cols-2">
        {offered.map((scope) => (
          <Checkbox
            key={scope}
            label={scopeWords[scope]}
            checked={value.includes(scope)}
            onChange={({ target }) =>
              onChange(target.checked ? [...value, scope] : value.filter((other) => other !== scope))
            }
          />
        ))}
      </div>
    </FieldGroup>
  );
}
