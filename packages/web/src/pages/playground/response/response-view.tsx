import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import type { ModelResponse } from "../use-predictions.ts";
import { ResponseFacts } from "./response-facts.tsx";

/** Finish reasons of incomplete responses. */
const shortfalls: Record<string, string> = {
  length: "The response was cut off at max_tokens.",
  content_filter: "The model’s content filter removed part of the response.",
};

export function ResponseView({ response }: { response: ModelResponse }) {
  const { response: message, reasoning, finish_reason } = response.prediction;
  const shortfall = shortfalls[finish_reason ?? ""];
  return (
    <section aria-label={`Response ${response.number}`} className="flex min-w-0 flex-col gap-3">
      <PlainText text={message.content} label="Response" />
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
      <ResponseFacts response={response} />
    </section>
  );
}
