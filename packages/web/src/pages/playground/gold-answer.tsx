import { CircleCheck } from "lucide-react";
import type { Draft } from "../../parts/playground-draft.ts";
import { TextDifference } from "../../ui/difference/text-difference.tsx";
import type { ModelResponse } from "./use-predictions.ts";

interface GoldAnswerProps {
  response: ModelResponse;
  draft: Draft;
}

/** What the environment says in truth, beside what the model says: of the input as it was asked. */
export function GoldAnswer({ response, draft }: GoldAnswerProps) {
  const { goldAnswer, state, action } = draft;
  const { interaction } = response.request;
  if (goldAnswer === "" || interaction.state !== state || interaction.action !== action) return null;
  const { content } = response.prediction.response;
  if (content === goldAnswer)
    return (
      <p className="flex items-center gap-2 text-sm text-ink-2">
        <CircleCheck className="size-4 shrink-0 text-pass" aria-hidden />
        The same text as the gold answer.
      </p>
    );
  return (
    <section aria-label="Beside the gold answer">
      <TextDifference
        before={goldAnswer}
        after={content}
        beforeLabel="Gold answer"
        afterLabel={`Response ${response.number}`}
      />
    </section>
  );
}
