import type { ApiKeyResponse } from "@presage/sdk";
import { type FormEvent, useState } from "react";
import { flushSync } from "react-dom";
import { useChangeKeySettings } from "../../data/api-keys.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { focusFirstIssue } from "../../ui/form/field-issues.ts";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { CaptureField } from "./capture-field.tsx";
import { LimitFields } from "./limit-fields.tsx";
import { type LimitIssues, limitsForm, readLimits } from "./read-limits.ts";

/** Open while `apiKey` is defined. */
export function KeySettingsDialog({
  apiKey,
  onClose,
}: {
  apiKey: ApiKeyResponse | undefined;
  onClose(): void;
}) {
  return (
    <Dialog
      isOpen={apiKey !== undefined}
      onClose={onClose}
      title="Settings of this key"
      hint="Predictions and evaluations are counted separately. The limits of your user and account apply as well."
    >
      {apiKey !== undefined && <KeySettingsForm apiKey={apiKey} onClose={onClose} />}
    </Dialog>
  );
}

function KeySettingsForm({ apiKey, onClose }: { apiKey: ApiKeyResponse; onClose(): void }) {
  const [form, setForm] = useState(limitsForm(apiKey));
  const [issues, setIssues] = useState<LimitIssues>({});
  const [capture, setCapture] = useState(apiKey.capture ?? "");
  const { mutate, error, isPending } = useChangeKeySettings();

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const { limits, issues } = readLimits(form);
    if (Object.values(issues).every((issue) => issue === undefined))
      return mutate(
        { id: apiKey.id, settings: { ...limits, capture: capture === "" ? null : capture } },
        { onSuccess: onClose },
      );
    flushSync(() => setIssues(issues));
    focusFirstIssue(event.currentTarget);
  }

  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <p className="text-sm font-medium wrap-anywhere">{apiKey.name}</p>
      <LimitFields
        form={form}
        issues={issues}
        onChange={(part) => {
          setForm({ ...form, ...part });
          setIssues({});
        }}
      />
      <CaptureField value={capture} onChange={setCapture} />
      {error !== null && <ErrorNotice error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" isBusy={isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
