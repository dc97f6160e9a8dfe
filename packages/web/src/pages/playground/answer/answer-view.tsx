import { PlainText } from "../../../ui/text/plain-text.tsx";
import type { Answer } from "../use-predictions.ts";
import { AnswerFacts } from "./answer-facts.tsx";

/** One answer of the model, and how it came about. */
export function AnswerView({ answer }: { answer: Answer }) {
  const { response, reasoning } = answer.prediction;
  return (
    <section aria-label={`Answer ${answer.number}`} className="flex min-w-0 flex-col gap-3">
      <PlainText text={response.content} label="Answer" />
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
