import { CircleAlert } from "lucide-react";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { explainFailure } from "./explain-failure.ts";

/** Why an evaluation has no verdict, and what to do. It does not look like a fail, since it is not one. */
export function FailureNotice({ errorMessage }: { errorMessage: string | null }) {
  const { code, message, advice } = explainFailure(errorMessage);
  return (
    <div className="flex gap-3 rounded-lg border border-warn/30 bg-warn-soft px-4 py-3 text-sm">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
      <div className="flex min-w-0 flex-col gap-1">
        <p className="flex flex-wrap items-baseline gap-x-2 font-medium text-warn">
          Without a verdict <code className="font-mono text-xs">{code}</code>
        </p>
        <p className="wrap-anywhere text-ink">
          <InlineText text={message} />
        </p>
        <p className="text-ink-2">{advice} It counts neither as a pass nor as a fail.</p>
      </div>
    </div>
  );
}
