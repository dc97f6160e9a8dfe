import { Button } from "../button.tsx";

interface SaveActionsProps {
  /** Whether there is something to throw away. */
  isChanged: boolean;
  isBusy: boolean;
  isReady: boolean;
  submitLabel: string;
  onStartOver(): void;
}

/** The end of a form whose draft is kept: save it, or begin anew. */
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
