import { useQuery } from "@tanstack/react-query";
import { ChevronDown, Undo2 } from "lucide-react";
import { useRef, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { isSandbox, modelsQuery } from "../../data/predictions.ts";
import type { Draft, usePlaygroundDraft } from "../../parts/playground-draft.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { examples } from "./examples.ts";

/** Fills or clears all fields, without losing input by accident. */
export function DraftActions({ drafting }: { drafting: ReturnType<typeof usePlaygroundDraft> }) {
  const { draft, isEmpty, replace, clear, undoClear } = drafting;
  const isMine = !isEmpty && !examples.some((one) => JSON.stringify(one.draft) === JSON.stringify(draft));
  const [example, setExample] = useState<Draft>();
  return (
    <div className="flex items-center gap-1">
      {/* A single button for both actions, so that it keeps the focus. */}
      <Button
        variant="quiet"
        size="small"
        disabled={isEmpty && undoClear === undefined}
        icon={undoClear && <Undo2 aria-hidden />}
        onClick={undoClear ?? clear}
      >
        {undoClear ? "Undo clear" : "Clear"}
      </Button>
      <ExamplesMenu onChoose={(chosen) => (isMine ? setExample(chosen) : replace(chosen))} />
      <ConfirmDialog
        isOpen={example !== undefined}
        onClose={() => setExample(undefined)}
        title="Replace your input?"
        confirmLabel="Replace"
        onConfirm={() => {
          if (example !== undefined) replace(example);
          setExample(undefined);
        }}
      >
        The example replaces the contents of every field.
      </ConfirmDialog>
    </div>
  );
}

function ExamplesMenu({ onChoose }: { onChoose(draft: Draft): void }) {
  const button = useRef<HTMLButtonElement>(null);
  const presage = usePresage();
  const { data: models } = useQuery(modelsQuery(presage));
  const hasModel = !models?.some(isSandbox);
  return (
    <Menu
      trigger={
        <Button ref={button} size="small">
          Examples
          <ChevronDown aria-hidden />
        </Button>
      }
    >
      {examples.map(({ name, hint, needsModel, draft }) => (
        <MenuItem
          key={name}
          onSelect={() => {
            // A dialog that opens now returns the focus here, not to an item of the closed menu.
            button.current?.focus();
            onChoose(draft);
          }}
        >
          <span className="min-w-0 flex-1">
            <span className="block font-medium">{name}</span>
            <span className="block text-xs text-ink-3">{hint}</span>
          </span>
          {needsModel && !hasModel && <Badge>Needs a model</Badge>}
        </MenuItem>
      ))}
    </Menu>
  );
}
