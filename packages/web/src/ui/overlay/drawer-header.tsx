import { useLocation } from "@tanstack/react-router";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import type { ReactNode } from "react";
import { CopyButton } from "../copy-button.tsx";
import { IconButton } from "../icon-button.tsx";

interface DrawerHeaderProps<Place> {
  /** What is open. */
  children: ReactNode;
  /** Its neighbours in the list. */
  previous: Place | undefined;
  next: Place | undefined;
  onOpen(place: Place): void;
  onClose(): void;
}

/** The name of what a drawer shows, and navigation to its neighbours in the list. */
export function DrawerHeader<Place>({ children, previous, next, onOpen, onClose }: DrawerHeaderProps<Place>) {
  // The address of what is open in this list, with the filters.
  const { href } = useLocation();
  return (
    <div className="flex h-12 shrink-0 items-center gap-1 border-b border-line px-3 sm:px-4">
      <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">{children}</h2>
      <IconButton
        label="Previous (K)"
        icon={<ChevronUp aria-hidden />}
        disabled={previous === undefined}
        onClick={() => previous !== undefined && onOpen(previous)}
      />
      <IconButton
        label="Next (J)"
        icon={<ChevronDown aria-hidden />}
        disabled={next === undefined}
        onClick={() => next !== undefined && onOpen(next)}
      />
      <CopyButton text={location.origin + href} label="Copy link" />
      <IconButton label="Close (Esc)" icon={<X aria-hidden />} onClick={onClose} />
    </div>
  );
}
