import { TriangleAlert } from "lucide-react";
import { AlertDialog } from "radix-ui";
import { type Ref, useRef } from "react";
import type { NewKey } from "../../data/api-keys.ts";
import { firstPrediction } from "../../parts/predictions.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { TextArea } from "../../ui/form/inputs.tsx";
import { Modal } from "../../ui/overlay/modal.tsx";

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
      kind={AlertDialog}
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
        <AlertDialog.Action asChild>
          <Button variant="primary" onClick={onStored}>
            I have stored it
          </Button>
        </AlertDialog.Action>
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
  return (
    <>
      <div>
        <AlertDialog.Title className="text-base font-semibold wrap-anywhere">
          New key “{name}”
        </AlertDialog.Title>
        <AlertDialog.Description className="mt-2 flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
          Copy it now and store it with your other secrets. It will not be shown again.
        </AlertDialog.Description>
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
