import { CircleCheck, CircleX, SkipForward, Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";

interface VerdictBarProps {
  isReady: boolean;
  canUndo: boolean;
  onDecide(pass: boolean | undefined): void;
  onUndo(): void;
}

/** The four things that can be done with a result, each with its key. It stays in sight while texts are scrolled. */
export function VerdictBar({ isReady, canUndo, onDecide, onUndo }: VerdictBarProps) {
  return (
    <div className="sticky bottom-0 z-10 grid grid-cols-4 gap-2 border-t border-line bg-surface p-2 sm:flex sm:justify-end sm:px-4">
      <Button icon={<Undo2 aria-hidden />} disabled={!canUndo} onClick={onUndo} className="max-sm:h-11">
        Undo
        <Key>U</Key>
      </Button>
      <Button
        icon={<SkipForward aria-hidden />}
        disabled={!isReady}
        onClick={() => onDecide(undefined)}
        className="max-sm:h-11"
      >
        Skip
        <Key>S</Key>
      </Button>
      <Button
        icon={<CircleX className="text-fail" aria-hidden />}
        disabled={!isReady}
        onClick={() => onDecide(false)}
        className="max-sm:h-11 sm:w-28"
      >
        Fail
        <Key>F</Key>
      </Button>
      <Button
        icon={<CircleCheck className="text-pass" aria-hidden />}
        disabled={!isReady}
        onClick={() => onDecide(true)}
        className="max-sm:h-11 sm:w-28"
      >
        Pass
        <Key>P</Key>
      </Button>
    </div>
  );
}

function Key({ children }: { children: ReactNode }) {
  return (
    <kbd
      aria-hidden
      className="rounded border border-line bg-sunken px-1 font-mono text-[0.6875rem] leading-4 text-ink-2 max-sm:hidden"
    >
      {children}
    </kbd>
  );
}
