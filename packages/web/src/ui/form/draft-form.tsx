import type { ReactNode } from "react";
import { Button } from "../button.tsx";
import { focusFirstIssue } from "./field-issues.ts";

interface DraftFormProps<Request, Saved> {
  /** Saves the draft. */
  save: {
    mutate(request: Request, callbacks: { onSuccess(saved: Saved): void; onError(): void }): void;
    isPending: boolean;
    reset(): void;
  };
  /** Undefined while the draft cannot be saved. */
  request: Request | undefined;
  onSaved(saved: Saved): void;
  submitLabel: string;
  /** Whether there is a draft to discard. */
  isChanged: boolean;
  discard(): void;
  children: ReactNode;
}

/** A form with a stored draft. A refused save moves the focus to the first field with an issue. */
export function DraftForm<Request, Saved>({
  save,
  request,
  onSaved,
  submitLabel,
  isChanged,
  discard,
  children,
}: DraftFormProps<Request, Saved>) {
  function startOver() {
    discard();
    save.reset();
  }
  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (request === undefined) return;
        const form = event.currentTarget;
        // After React has rendered the issues.
        save.mutate(request, { onSuccess: onSaved, onError: () => setTimeout(() => focusFirstIssue(form)) });
      }}
    >
      {children}
      <div className="flex items-center justify-end gap-2">
        {isChanged && (
          <Button variant="quiet" onClick={startOver}>
            Start over
          </Button>
        )}
        <Button type="submit" variant="primary" isBusy={save.isPending} disabled={request === undefined}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}
