import type { ErrorComponentProps } from "@tanstack/react-router";
import { ErrorNotice } from "../ui/error-notice.tsx";

/** In place of a page that broke: the rest of the dashboard goes on working. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  return (
    <div className="mx-auto max-w-2xl p-6">
      <ErrorNotice error={error} onRetry={reset} />
    </div>
  );
}
