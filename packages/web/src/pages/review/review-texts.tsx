import type { EvaluationResult } from "@presage/sdk";
import { TextDifference } from "../../ui/difference/text-difference.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";

/** What was asked, and output and gold answer side by side with the difference marked. */
export function ReviewTexts({ result }: { result: EvaluationResult }) {
  const output = result.evaluated_model_output;
  const gold = result.evaluated_model_gold_answer;
  const input = result.evaluated_model_input;
  const contexts = result.evaluated_model_retrieved_context ?? [];
  const { positions } = result.additional_info;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {input !== null && <PlainText text={input} label="Input" />}
      {contexts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list of one result never changes
        <PlainText key={index} text={text} label={`Context ${index + 1}`} />
      ))}
      {output !== null && gold !== null ? (
        <TextDifference
          before={gold}
          after={output}
          beforeLabel="Gold answer"
          afterLabel="Output"
          firstLayout="side-by-side"
        />
      ) : (
        <>
          {gold !== null && <PlainText text={gold} label="Gold answer" />}
          {output !== null && <PlainText text={output} label="Output" positions={positions ?? undefined} />}
        </>
      )}
      {output === null && gold === null && input === null && (
        <p className="text-sm text-ink-3">No texts were stored.</p>
      )}
    </div>
  );
}
