import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import type { Answer } from "../use-predictions.ts";
import { AnswerFacts } from "./answer-facts.tsx";

/** Finish reasons of incomplete answers. */
const shortfalls: Record<string, string> = {
  length: "The answer was cut off at max_tokens.",
  content_filter: "The model’s content filter removed part of the answer.",
};

export function AnswerView({ answer }: { answer: Answer }) {
  const { response, reasoning, finish_reason } = answer.prediction;
  const shortfall = shortfalls[finish_reason ?? ""];
  return (
    <section aria-label={`Answer ${answer.number}`} className="flex min-w-0 flex-col gap-3">
      <PlainText text={response.content} label="Answer" />
      {shortfall !== undefined && <p className="text-sm text-warn">{shortfall}</p>}
      {reasoning && (
        <details className="rounded-md border border-line">
          <summary className="cursor-pointer px-3 py-2 text-sm font-medium text-ink-2 hover:text-ink">
            Reasoning
          </summary>
          <div className="px-3 pb-3">
            <PlainText text={reasoning} label="Reasoning" />
          </div>
        </details>
      )}
      <AnswerFacts answer={answer} />
    </section>
  );
}
