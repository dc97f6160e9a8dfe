import { Undo2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/overlay/confirm-dialog.tsx";
import type { Draft } from "./draft.ts";
import { ExamplesMenu } from "./examples-menu.tsx";
import type { usePlaygroundDraft } from "./use-playground-draft.ts";

/** Fills and empties all fields at once, and loses nothing by it. */
export function DraftActions({ drafting }: { drafting: ReturnType<typeof usePlaygroundDraft> }) {
  const { isEmpty, replace, clear, undoClear } = drafting;
  const [asked, setAsked] = useState<Draft>();
  return (
    <div className="flex items-center gap-1">
      {/* One button, so that the keyboard stays where it is. */}
      <Button
        variant="quiet"
        size="small"
        disabled={isEmpty && undoClear === undefined}
        icon={undoClear && <Undo2 aria-hidden />}
        onClick={undoClear ?? clear}
      >
        {undoClear ? "Undo clear" : "Clear"}
      </Button>
      <ExamplesMenu onChoose={(example) => (isEmpty ? replace(example) : setAsked(example))} />
      <ConfirmDialog
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title="Replace what you typed?"
        confirmLabel="Replace it"
        onConfirm={() => {
          if (asked !== undefined) replace(asked);
          setAsked(undefined);
        }}
      >
        The example fills every field, and what is in them now is gone.
      </ConfirmDialog>
    </div>
  );
}
