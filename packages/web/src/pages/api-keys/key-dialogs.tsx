import type { ApiKeyResponse } from "@presage/sdk";
import { TriangleAlert } from "lucide-react";
import { type FormEvent, type Ref, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { type NewKey, useChangeKeySettings, useRevokeApiKeys } from "../../data/api-keys.ts";
import { firstPrediction } from "../../parts/predictions.ts";
import { Button, CopyButton } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import { ConfirmDialog, Dialog, Modal } from "../../ui/dialog.tsx";
import { DialogButtons, focusFirstIssue } from "../../ui/form/form.tsx";
import { TextArea } from "../../ui/form/inputs.tsx";
import { floatingParts } from "../../ui/load.ts";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Time } from "../../ui/time.tsx";
import { CaptureField, LimitFields } from "./key-form.tsx";
import { type LimitIssues, limitsForm, readLimits } from "./read-key-form.ts";

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
      hasForm
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
      <DialogButtons onCancel={onClose} isBusy={isPending}>
        Save
      </DialogButtons>
    </form>
  );
}

interface NewKeyDialogProps {
  newKey: NewKey | undefined;
  onStored(): void;
  focusAfterwards(): void;
}

/** Shows a new key once. Only its button closes it, so that the key is not lost by accident. */
export function NewKeyDialog({ newKey, onStored, focusAfterwards }: NewKeyDialogProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <Modal
      isAlert
      isOpen={newKey !== undefined}
      onOpenAutoFocus={(event) => {
        event.preventDefault();
        field.current?.focus();
      }}
      onEscapeKeyDown={(event) => event.preventDefault()}
      onCloseAutoFocus={(event) => {
        event.preventDefault();
        focusAfterwards();
      }}
      className="flex max-h-[calc(100dvh-2rem)] max-w-xl flex-col gap-4 overflow-y-auto p-5"
    >
      {newKey !== undefined && <NewKeyContent newKey={newKey} field={field} />}
      <div className="flex justify-end">
        <Button variant="primary" onClick={onStored}>
          I have stored it
        </Button>
      </div>
    </Modal>
  );
}

function NewKeyContent({
  newKey: { key, name },
  field,
}: {
  newKey: NewKey;
  field: Ref<HTMLTextAreaElement>;
}) {
  const { Title, Description } = floatingParts().AlertDialog;
  return (
    <>
      <div>
        <Title className="text-base font-semibold wrap-anywhere">New key “{name}”</Title>
        <Description className="mt-2 flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
          Copy it now and store it with your other secrets. It will not be shown again.
        </Description>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <TextArea
          ref={field}
          rows={1}
          aria-label="Key"
          readOnly
          value={key}
          onFocus={({ target }) => target.select()}
          className="min-h-8.5! min-w-0 flex-1 basis-64 resize-none break-all"
        />
        <CopyButton text={key} label="Copy key">
          Copy key
        </CopyButton>
      </div>
      <div className="flex min-w-0 flex-col gap-1.5">
        <h3 className="text-sm font-medium">Try it</h3>
        <CodeBlock
          code={`export PRESAGE_API_KEY='${key}'\n${firstPrediction()}`}
          label="the example"
          language="shell"
        />
      </div>
    </>
  );
}

/** Open while there are keys. */
export function RevokeKeysDialog({
  apiKeys,
  onClose,
}: {
  apiKeys: readonly ApiKeyResponse[];
  onClose(): void;
}) {
  const revoke = useRevokeApiKeys();
  const [only] = apiKeys;
  return (
    <ConfirmDialog
      isOpen={only !== undefined}
      onClose={onClose}
      title={apiKeys.length > 1 ? `Revoke ${apiKeys.length} keys?` : "Revoke this key?"}
      confirmLabel={apiKeys.length > 1 ? `Revoke ${apiKeys.length} keys` : "Revoke key"}
      change={revoke}
      onConfirm={() =>
        revoke.mutate(
          apiKeys.map(({ id }) => id),
          { onSuccess: onClose },
        )
      }
    >
      <div className="flex flex-col gap-3">
        <ul className="flex max-h-48 flex-col gap-1 overflow-y-auto">
          {apiKeys.map((apiKey) => (
            <li key={apiKey.id}>
              <strong className="font-semibold wrap-anywhere text-ink">{apiKey.name}</strong> (
              <span className="font-mono text-xs">
                {apiKey.prefix}…{apiKey.last_four}
              </span>
              ),{" "}
              {apiKey.last_used_at ? (
                <>
                  last used <Time at={apiKey.last_used_at} />
                </>
              ) : (
                "never used"
              )}
            </li>
          ))}
        </ul>
        <p>
          {apiKeys.length > 1 ? "They stop" : "It stops"} working immediately, and every program that uses{" "}
          {apiKeys.length > 1 ? "them" : "it"} is rejected. This cannot be undone.
        </p>
      </div>
    </ConfirmDialog>
  );
}
