import type { TaskSplitName } from "@presage/sdk";
import { ChevronLeft, ChevronRight, RotateCcw } from "lucide-react";
import { formatCount } from "../../../format/format-number.ts";
import { Button } from "../../../ui/button.tsx";
import { Segmented } from "../../../ui/form/segmented.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";
import { useShortcut } from "../../../ui/shortcuts/use-shortcut.ts";

interface Place {
  split: TaskSplitName;
  index: number;
}

interface TaskBarProps {
  /** Those with tasks. */
  splits: readonly TaskSplitName[];
  place: Place;
  /** Tasks of the split. */
  count: number;
  isBegun: boolean;
  onBegin(place: Place): void;
}

const group = "Play";

/** Which task is played, and the ways to others. */
export function TaskBar({ splits, place: { split, index }, count, isBegun, onBegin }: TaskBarProps) {
  const go = (by: number) => onBegin({ split, index: (index + by + count) % count });
  const again = () => onBegin({ split, index });
  useShortcut({ keys: "n", label: "Next task", group, run: () => go(1) }, count > 1);
  useShortcut({ keys: "r", label: "Start again", group, run: again }, isBegun);
  return (
    <>
      {splits.length > 1 && (
        <Segmented
          label="Split"
          value={split}
          options={splits.map((one) => ({ value: one, label: one }))}
          onChange={(next) => onBegin({ split: next, index: 0 })}
        />
      )}
      <span className="inline-flex items-center rounded-md border border-line bg-surface">
        <IconButton
          label="Previous task"
          icon={<ChevronLeft aria-hidden />}
          disabled={count < 2}
          onClick={() => go(-1)}
        />
        <span className="px-1 text-xs whitespace-nowrap text-ink-2 tabular-nums">
          Task {index} <span className="text-ink-3">of {formatCount(count)}</span>
        </span>
        <IconButton
          label="Next task (N)"
          icon={<ChevronRight aria-hidden />}
          disabled={count < 2}
          onClick={() => go(1)}
        />
      </span>
      <Button
        size="small"
        icon={<RotateCcw aria-hidden />}
        disabled={!isBegun}
        title="Start again (R)"
        onClick={again}
      >
        Start again
      </Button>
    </>
  );
}
