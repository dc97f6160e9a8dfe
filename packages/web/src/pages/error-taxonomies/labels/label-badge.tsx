import { X } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";

/** A label, with a button to remove it where that is allowed. */
export function LabelBadge({ label, onRemove }: { label: string; onRemove: (() => void) | undefined }) {
  return (
    <Badge tone="accent">
      <span className="flex items-center gap-1">
        <bdi className="truncate">{label}</bdi>
        {onRemove !== undefined && (
          <button
            type="button"
            aria-label={`Remove the label ${label}`}
            title="Remove"
            className="-mr-1.5 inline-flex size-6 shrink-0 items-center justify-center rounded-full hover:bg-hover"
            onClick={onRemove}
          >
            <X aria-hidden />
          </button>
        )}
      </span>
    </Badge>
  );
}
