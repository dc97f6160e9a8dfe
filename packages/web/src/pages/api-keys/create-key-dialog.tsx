import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { flushSync } from "react-dom";
import { apiKeysQuery } from "../../data/api-keys.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Field } from "../../ui/form/field.tsx";
import { faultAt, placedFaults } from "../../ui/form/field-issues.ts";
import { focusFirstFault } from "../../ui/form/focus-first-issue.ts";
import { Select, TextInput } from "../../ui/form/inputs.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import type { NewKey } from "./new-key-dialog.tsx";
import { type Expiry, expiries, type NewKeyFaults, type NewKeyForm, readNewKey } from "./read-new-key.ts";

interface CreateKeyDialogProps {
  isOpen: boolean;
  onClose(): void;
  onCreated(newKey: NewKey): void;
}

const expiryLabels: Record<Expiry, string> = {
  never: "Never",
  "30": "In 30 days",
  "90": "In 90 days",
  date: "On a day of my choice",
};

const emptyForm: NewKeyForm = { name: "", expiry: "90", date: "" };

export function CreateKeyDialog({ isOpen, onClose, onCreated }: CreateKeyDialogProps) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const [form, setForm] = useState(emptyForm);
  const [faults, setFaults] = useState<NewKeyFaults>({});
  const { queryKey } = apiKeysQuery(presage);
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: async (request: Parameters<typeof presage.apiKeys.create>[0]) => {
      // A mutation's answer is remembered for minutes: the key must not be in it.
      const { key, name } = await presage.apiKeys.create(request);
      onCreated({ key, name });
    },
    onSuccess: () => {
      setForm(emptyForm);
      onClose();
      return queryClient.invalidateQueries({ queryKey });
    },
  });

  function change(part: Partial<NewKeyForm>) {
    setForm({ ...form, ...part });
    setFaults({});
    // What the server refused was another form.
    if (error !== null) reset();
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const { request, faults } = readNewKey(form, Date.now());
    if (request !== undefined) return mutate(request);
    flushSync(() => setFaults(faults));
    focusFirstFault(event.currentTarget);
  }

  const known = { ...faultsOf(error), ...faults };
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Create key" hint="The key is shown once, after this.">
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <Field
          label="Name"
          hint="Who or what will use it, for example “rollouts, cluster 2”."
          fault={known.name}
        >
          {(control) => (
            <TextInput
              {...control}
              value={form.name}
              onChange={({ target }) => change({ name: target.value })}
              required
            />
          )}
        </Field>
        <Field
          label="Expires"
          hint={
            form.expiry === "never" ? "It works until it is revoked." : "Calls with it fail from then on."
          }
          fault={form.expiry === "date" ? undefined : known.expires_at}
        >
          {(control) => (
            <Select
              {...control}
              value={form.expiry}
              onChange={({ target }) => {
                const expiry = expiries.find((known) => known === target.value);
                if (expiry !== undefined) change({ expiry });
              }}
            >
              {expiries.map((expiry) => (
                <option key={expiry} value={expiry}>
                  {expiryLabels[expiry]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {form.expiry === "date" && (
          <Field label="Last day" hint="It works until the end of that day." fault={known.expires_at}>
            {(control) => (
              <TextInput
                {...control}
                type="date"
                value={form.date}
                onChange={({ target }) => change({ date: target.value })}
                required
              />
            )}
          </Field>
        )}
        {error !== null && Object.keys(known).length === 0 && <ErrorNotice error={error} />}
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

/** The server's own words about a field. */
function faultsOf(error: unknown): NewKeyFaults {
  const faults = placedFaults(error);
  const name = faultAt(faults, "name");
  const expiresAt = faultAt(faults, "expires_at");
  return { ...(name && { name }), ...(expiresAt && { expires_at: expiresAt }) };
}
