import { Button } from "../button.tsx";

interface SaveActionsProps {
  /** Whether there is a draft to discard. */
  isChanged: boolean;
  isBusy: boolean;
  isReady: boolean;
  submitLabel: string;
  onStartOver(): void;
}

/** The buttons of a form with a stored draft. */
export function SaveActions({ isChanged, isBusy, isReady, submitLabel, onStartOver }: SaveActionsProps) {
  return (
    <div className="flex items-center justify-end gap-2">
      {isChanged && (
        <Button variant="quiet" onClick={onStartOver}>
          Start over
        </Button>
      )}
      <Button type="submit" variant="primary" isBusy={isBusy} disabled={!isReady}>
        {submitLabel}
      </Button>
    </div>
  );
}
