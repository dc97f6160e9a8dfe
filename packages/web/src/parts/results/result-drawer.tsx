import { useNavigate } from "@tanstack/react-router";
import { present } from "../../search-params.ts";
import { Drawer } from "../../ui/dialog.tsx";
import { lazyPart } from "../../ui/load.ts";
import { useShortcut } from "../../ui/shortcuts.tsx";
import type { Filtering } from "./results-search.ts";

/** Loaded when a `Drawer` needs it, rather than with the page. */
export const ResultDetails = lazyPart(async () => (await import("./result-details.tsx")).ResultDetails);

interface ResultDrawerProps {
  openId: string | undefined;
  /** The results of the list that the drawer was opened from, in order. */
  ids: readonly string[];
  onOpen(id: string): void;
  onClose(): void;
}

/** A result on a page other than the page of results, which the result's filters lead to. */
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
  const filtering: Filtering = {
    search: {},
    change(changes) {
      void navigate({ to: "/evaluations", search: present(changes) });
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
          filtering={filtering}
          onOpen={onOpen}
          onClose={onClose}
        />
      )}
    </Drawer>
  );
}
