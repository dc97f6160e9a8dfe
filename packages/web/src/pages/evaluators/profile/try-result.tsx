import type { EvaluateItem } from "@presage/sdk";
import { formatScore } from "../../../format/format-number.ts";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { VerdictBadge } from "../../../ui/verdict-badge.tsx";

/** What a trial came to. */
export function TryResult({
  item: { status, error_message, evaluation_result: result },
}: {
  item: EvaluateItem;
}) {
  const positions = result?.additional_info.positions ?? [];
  const extra = result?.additional_info.extra;
  return (
    <section aria-label="Result" className="flex min-w-0 flex-col gap-3 border-t border-line p-4">
      <p className="flex items-center gap-3 text-sm">
        <VerdictBadge status={status} pass={result?.pass ?? null} />
        {result !== null && result.score_raw !== null && (
          <span>
            Score <span className="font-medium tabular-nums">{formatScore(result.score_raw)}</span>
          </span>
        )}
      </p>
      {error_message !== null && <p className="text-sm wrap-anywhere text-ink-2">{error_message}</p>}
      {result?.explanation && <PlainText label="Explanation" text={result.explanation} />}
      {positions.length > 0 && (
        <PlainText
          label="Where in the output"
          text={result?.evaluated_model_output ?? ""}
          positions={positions}
        />
      )}
      {extra && Object.keys(extra).length > 0 && (
        <details>
          <summary className="cursor-pointer text-sm font-medium">Details</summary>
          <div className="mt-2">
            <CodeBlock code={JSON.stringify(extra, null, 2)} label="the details" />
          </div>
        </details>
      )}
    </section>
  );
}
