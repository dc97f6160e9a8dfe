import { Play } from "lucide-react";
import type { Ref } from "react";
import { AllowedButton } from "../../session/allowed-button.tsx";
import { Button } from "../../ui/button.tsx";

interface PredictBarProps {
  ref: Ref<HTMLButtonElement>;
  isPending: boolean;
  isStored: boolean;
  onCancel(): void;
}

const commandKey = /\bMac|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl";

export function PredictBar({ ref, isPending, isStored, onCancel }: PredictBarProps) {
  return (
    <>
      <AllowedButton
        needs="predict"
        ref={ref}
        type="submit"
        variant="primary"
        icon={<Play aria-hidden />}
        isBusy={isPending}
      >
        Predict
      </AllowedButton>
      {isPending && <Button onClick={onCancel}>Cancel</Button>}
      <span className="hidden items-center gap-1 text-xs text-ink-3 sm:inline-flex">
        <KeyHint>{commandKey}</KeyHint>
        <KeyHint>Enter</KeyHint>
      </span>
      <span className="flex-1" />
      {!isStored && (
        <span role="status" className="text-xs text-warn">
          Too long for this browser to save: reloading the page would lose it.
        </span>
      )}
    </>
  );
}

function KeyHint({ children }: { children: string }) {
  return (
    <kbd className="rounded border border-line-strong bg-sunken px-1 font-mono text-xs text-ink-2">
      {children}
    </kbd>
  );
}
