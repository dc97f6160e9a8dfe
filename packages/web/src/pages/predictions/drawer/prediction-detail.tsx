import type { StoredPredictionDetail } from "@presage/sdk";
import { promptOf, roleLabels } from "../../../parts/prompt.ts";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { StatusBadge } from "../prediction-columns.tsx";
import type { PredictionLog } from "../use-log.ts";
import { PredictionActions } from "./prediction-actions.tsx";
import { PredictionFacts } from "./prediction-facts.tsx";

interface PredictionDetailProps {
  prediction: StoredPredictionDetail;
  log: PredictionLog;
  onDeleted(): void;
}

/** What was asked, what was answered, and by whom. */
export function PredictionDetail({ prediction, log, onDeleted }: PredictionDetailProps) {
  const { output, reasoning, error_message, params, requested_model } = prediction;
  const turns = promptOf(prediction);
  const fields = { ...(requested_model !== null && { model: requested_model }), ...params };
  return (
    <div className="flex flex-col gap-5 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <StatusBadge prediction={prediction} />
        <span className="flex-1" />
        <PredictionActions prediction={prediction} onDeleted={onDeleted} />
      </div>
      {error_message !== null && <PlainText text={error_message} label="Error" isProse />}
      {output !== null && <PlainText text={output} label="Answer" />}
      {reasoning !== null && reasoning !== "" && <PlainText text={reasoning} label="Reasoning" />}
      <section aria-label="Prompt" className="flex flex-col gap-3">
        <h3 className="text-sm font-semibold">Prompt as sent</h3>
        {turns.length === 0 && (
          <p className="text-sm text-ink-2">
            {prediction.source === "live"
              ? "It was not stored."
              : "The run or its dataset is gone, so it is not known any more."}
          </p>
        )}
        {turns.map(({ role, content }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the turns of one prediction never change
          <PlainText key={index} text={content} label={roleLabels[role] ?? role} />
        ))}
        {Object.keys(fields).length > 0 && <PlainText text={JSON.stringify(fields)} label="Further fields" />}
      </section>
      <PredictionFacts prediction={prediction} log={log} />
    </div>
  );
}
