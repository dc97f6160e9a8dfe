import type { EvaluationResult } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { type ResultRow, resultQuery, toResultRow } from "../../data/results.ts";
import { shortEvaluatorName } from "../../format/words.ts";
import { DrawerHeader } from "../../ui/dialog.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { ScrollRegion } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";
import { CorrectionCard } from "../correction-card.tsx";
import { ResultFacts } from "./result-facts.tsx";
import { ResultTexts, type TextName, VerdictLine } from "./result-texts.tsx";
import type { Filtering } from "./results-search.ts";

interface ResultDetailsProps {
  id: string;
  /** The list's part of the result, shown until the whole result is loaded. */
  row: ResultRow | undefined;
  previous: string | undefined;
  next: string | undefined;
  filtering: Filtering;
  /** Content above the result, about its sample. */
  above?: ReactNode;
  onOpen(id: string): void;
  onClose(): void;
}

export function ResultDetails({ id, row, filtering, above, ...ways }: ResultDetailsProps) {
  const presage = usePresage();
  const [text, chooseText] = useState<TextName>();
  const { data: result, error, refetch } = useQuery(resultQuery(presage, id));
  const region = useLostFocus(id);
  const about = result ?? row;
  return (
    <>
      <DrawerHeader {...ways}>{about === undefined ? `Result ${id}` : <Subject of={about} />}</DrawerHeader>
      {above}
      <ScrollRegion
        key={id}
        ref={region}
        label="The result"
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
      >
        {result !== undefined && (
          <ResultBody result={result} filtering={filtering} text={text} onChooseText={chooseText} />
        )}
        {result === undefined && (
          <div className="flex flex-col gap-4 p-4">
            {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
            {row !== undefined && <VerdictLine verdict={row} />}
            {row !== undefined && row.excerpt !== null && (
              <PlainText text={row.excerpt} label="Beginning of the output" />
            )}
            {row === undefined && error === null && (
              <div role="status" className="flex flex-col gap-4">
                <span className="sr-only">Loading</span>
                <Skeleton className="h-8" />
                <Skeleton className="h-64" />
              </div>
            )}
          </div>
        )}
      </ScrollRegion>
    </>
  );
}

/** Whose verdict it is, and on which sample. */
function Subject({ of }: { of: EvaluationResult | ResultRow }) {
  const name = shortEvaluatorName({ evaluator: of.evaluator_id, profile_name: of.profile_name });
  const sample = of.dataset_sample_id === null ? "" : ` on ${of.dataset_sample_id}`;
  return <InlineText text={name + sample} />;
}

/** Takes the focus if the focused element disappears with its result. At first the drawer has the focus. */
function useLostFocus(id: string) {
  const region = useRef<HTMLDivElement>(null);
  const shownId = useRef(id);
  useEffect(() => {
    if (shownId.current !== id && document.activeElement === document.body) region.current?.focus();
    shownId.current = id;
  }, [id]);
  return region;
}

interface ResultBodyProps {
  result: EvaluationResult;
  filtering: Filtering;
  text: TextName | undefined;
  onChooseText(name: TextName): void;
}

function ResultBody({ result, filtering, text, onChooseText }: ResultBodyProps) {
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
          <PlainText text={JSON.stringify(extra, shortened)} label="Additional output" />
        )}
        <ResultFacts result={result} filtering={filtering} />
      </div>
    </>
  );
}

/** Fractions with as many digits as anybody reads. */
function shortened(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

/** Why an evaluation has no verdict, and what to do. It does not look like a fail. */
function FailureNotice({ errorMessage }: { errorMessage: string | null }) {
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

interface Failure {
  code: string;
  message: string;
  /** What the user can do. */
  advice: string;
}

const advices: Record<string, string> = {
  missing_input: "Include the named text in the request.",
  unusable_input: "Send the text in the format that the evaluator needs, or choose another evaluator.",
  timeout: "Evaluate again. If this persists, shorten the texts or give the judge’s model more time.",
  overloaded: "Evaluate again in a moment, with fewer evaluations at once.",
  needs_model: "Configure a model, restart Presage and evaluate again.",
  judge_unreachable:
    "Check that the judge’s model is running and that PRESAGE_JUDGE_URL points to it, then evaluate again.",
  judge_rate_limited: "Wait, then evaluate again with fewer evaluations at once.",
  judge_refused: "Use another model for judging, or reword the pass criteria of the profile.",
  judge_truncated:
    "The model wrote on and on, or thought too long: use another one for judging, or shorten the task.",
  judge_invalid_verdict:
    "The model does not keep to the format of a verdict. Evaluate again, or use another model for judging.",
  contradictory_verdict:
    "Say in the pass criteria which scores pass, set pass_score in the profile, or use another model for judging.",
  not_applicable: "Nothing is wrong: this evaluator leaves such samples out, for every model alike.",
  judge_context_exceeded: "Shorten the texts, or use a model with a longer context for judging.",
  judge_error: "Check the log of the judge’s model, then evaluate again.",
  no_such_taxonomy: "Name an existing error taxonomy in the profile.",
  invalid_profile: "Create a revision of the profile that this version of the evaluator accepts.",
};

const otherwise = "Evaluate again. If this persists, contact your administrator.";

/** Explains an error message of the form `code: sentence`. */
export function explainFailure(errorMessage: string | null): Failure {
  const match = /^([a-z_]+): ([\s\S]*)$/.exec(errorMessage ?? "");
  const code = match?.[1] ?? "unknown";
  const message = match?.[2] ?? errorMessage ?? "The evaluation failed.";
  return { code, message, advice: advices[code] ?? otherwise };
}
