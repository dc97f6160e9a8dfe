import { useLocation } from "@tanstack/react-router";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";

interface ResultHeaderProps {
  id: string;
  previousId: string | undefined;
  nextId: string | undefined;
  onOpen(id: string): void;
  onClose(): void;
}

/** The result's id, and navigation to its neighbours. */
export function ResultHeader({ id, previousId, nextId, onOpen, onClose }: ResultHeaderProps) {
  // The address of this result in this list, with the filters.
  const { href } = useLocation();
  return (
    <div className="flex h-12 shrink-0 items-center gap-1 border-b border-line px-3 sm:px-4">
      <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">
        Result <span className="tabular-nums">{id}</span>
      </h2>
      <IconButton
        label="Previous (K)"
        icon={<ChevronUp aria-hidden />}
        disabled={previousId === undefined}
        onClick={() => previousId !== undefined && onOpen(previousId)}
      />
      <IconButton
        label="Next (J)"
        icon={<ChevronDown aria-hidden />}
        disabled={nextId === undefined}
        onClick={() => nextId !== undefined && onOpen(nextId)}
      />
      <CopyButton text={location.origin + href} label="Copy link" />
      <IconButton label="Close (Esc)" icon={<X aria-hidden />} onClick={onClose} />
    </div>
  );
}
