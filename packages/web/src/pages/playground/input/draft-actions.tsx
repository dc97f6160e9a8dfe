import { ChevronDown, Undo2 } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/overlay/confirm-dialog.tsx";
import { Menu, MenuItem } from "../../../ui/overlay/menu.tsx";
import type { Draft } from "./draft.ts";
import { examples } from "./examples.ts";
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

function ExamplesMenu({ onChoose }: { onChoose(draft: Draft): void }) {
  const button = useRef<HTMLButtonElement>(null);
  return (
    <Menu
      trigger={
        <Button ref={button} size="small">
          Examples
          <ChevronDown aria-hidden />
        </Button>
      }
    >
      {examples.map(({ name, hint, draft }) => (
        <MenuItem
          key={name}
          onSelect={() => {
            // A dialog that is opened now leads the focus back to where it is: not to an item of a closed menu.
            button.current?.focus();
            onChoose(draft);
          }}
        >
          <span>
            <span className="block font-medium">{name}</span>
            <span className="block text-xs text-ink-3">{hint}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
