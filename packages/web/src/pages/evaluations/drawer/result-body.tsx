import type { EvaluationResult } from "@presage/sdk";
import { toResultRow } from "../../../data/evaluation/evaluation-results.ts";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import type { Explorer } from "../use-explorer.ts";
import { CorrectionCard } from "./correction-card.tsx";
import { FailureNotice } from "./failure-notice.tsx";
import { ResultFacts } from "./result-facts.tsx";
import { ResultTexts, type TextName } from "./result-texts.tsx";
import { VerdictLine } from "./verdict-line.tsx";

interface ResultBodyProps {
  result: EvaluationResult;
  explorer: Explorer;
  text: TextName | undefined;
  onChooseText(name: TextName): void;
}

export function ResultBody({ result, explorer, text, onChooseText }: ResultBodyProps) {
  const { id, status, error_message, explanation } = result;
  const { extra } = result.additional_info;
  return (
    <>
      <div className="flex flex-col gap-4 p-4">
        <VerdictLine verdict={toResultRow(result)} />
        {status !== "success" && <FailureNotice errorMessage={error_message} />}
        {explanation !== null && explanation !== "" && (
          <PlainText text={explanation} label="Explanation" isProse />
        )}
        {status === "success" && id !== null && <CorrectionCard key={id} id={id} result={result} />}
      </div>
      <ResultTexts result={result} chosen={text} onChoose={onChooseText} />
      <div className="flex flex-col gap-4 p-4">
        {extra !== null && Object.keys(extra).length > 0 && (
          <PlainText text={JSON.stringify(extra)} label="Additional output" />
        )}
        <ResultFacts result={result} explorer={explorer} />
      </div>
    </>
  );
}
