import { useNavigate } from "@tanstack/react-router";
import { Drawer } from "../../../ui/overlay/drawer.tsx";
import { useShortcut } from "../../../ui/shortcuts/use-shortcut.ts";
import type { Explorer } from "../use-explorer.ts";
import { ResultDetails } from "./result-details.tsx";

interface ResultDrawerProps {
  openId: string | undefined;
  /** The results of the list that it was opened from, in its order. */
  ids: readonly string[];
  onOpen(id: string): void;
  onClose(): void;
}

/** A result beside a page other than the explorer, which its filters lead to. */
export function ResultDrawer({ openId, ids, onOpen, onClose }: ResultDrawerProps) {
  const navigate = useNavigate();
  const index = openId === undefined ? -1 : ids.indexOf(openId);
  const previous = index === -1 ? undefined : ids[index - 1];
  const next = index === -1 ? undefined : ids[index + 1];
  const isOpen = openId !== undefined;
  const step = (id: string | undefined) => {
    if (id !== undefined) onOpen(id);
  };
  const group = "Results";
  useShortcut({ keys: "j", label: "Next result", group, run: () => step(next) }, isOpen);
  useShortcut({ keys: "k", label: "Previous result", group, run: () => step(previous) }, isOpen);
  const explorer: Explorer = {
    search: {},
    change(changes) {
      const search = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      void navigate({ to: "/evaluations", search });
    },
  };
  return (
    <Drawer isOpen={isOpen} onClose={onClose} title={`Result ${openId}`}>
      {openId !== undefined && (
        <ResultDetails
          id={openId}
          row={undefined}
          previous={previous}
          next={next}
          explorer={explorer}
          onOpen={onOpen}
          onClose={onClose}
        />
      )}
    </Drawer>
  );
}
