import type { EvaluateItem, EvaluateRequest, EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { Play } from "lucide-react";
import { useEvaluate } from "../../../data/evaluators.ts";
import { formatScore } from "../../../format/numbers.ts";
import { humanizeName } from "../../../format/words.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { CodeBlock } from "../../../ui/code/code-block.tsx";
import { FieldGroup, TextAreaField } from "../../../ui/form/fields.tsx";
import { fieldIssues, issueAt, useDraft } from "../../../ui/form/form.tsx";
import { TextList } from "../../../ui/form/text-list.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { VerdictBadge } from "../../../ui/verdict.tsx";

interface TryCardProps {
  family: EvaluatorFamily;
  /** The newest revision. */
  profile: EvaluatorProfile;
}

const all = [
  "evaluated_model_system_prompt",
  "evaluated_model_retrieved_context",
  "evaluated_model_input",
  "evaluated_model_output",
  "evaluated_model_gold_answer",
] as const;

type SampleField = (typeof all)[number];

const emptySample: Record<SampleField, string> = {
  evaluated_model_system_prompt: "",
  evaluated_model_retrieved_context: "",
  evaluated_model_input: "",
  evaluated_model_output: "",
  evaluated_model_gold_answer: "",
};

/** Tries a profile on an example, without storing anything. */
export function TryCard({ family, profile }: TryCardProps) {
  // All profiles of a family share one example.
  const { draft, isChanged, change, discard } = useDraft(`example of ${family.family_name}`, emptySample);
  const { needed, taken } = sampleFields(family, profile.config);

  const attempt = useEvaluate();
  const item = attempt.data?.[0];
  const issues = fieldIssues(attempt.error);
  const isAtField = issues.some(({ path }) => [...needed, ...taken].some((field) => field === path[0]));

  return (
    <Card title="Try it" hint={`Runs revision ${profile.revision} once. Nothing is stored.`}>
      <form
        className="flex flex-col gap-4 p-4"
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate({
            request: {
              evaluators: [
                { evaluator: family.family_name, profile_name: profile.name, explain_strategy: "always" },
              ],
              capture: "none",
              ...toSample(draft, needed, taken),
            },
          });
        }}
      >
        {[...needed, ...taken].map((field) => {
          const around = {
            label: humanizeName(field),
            issue: issueAt(issues, field),
            aside: needed.includes(field) ? undefined : (
              <span className="text-xs font-normal text-ink-3">Optional</span>
            ),
          };
          if (field === "evaluated_model_retrieved_context") {
            return (
              <FieldGroup key={field} {...around}>
                <TextList
                  itemLabel="Passage"
                  texts={readContexts(draft[field])}
                  onChange={(texts) => change({ [field]: writeContexts(texts) })}
                />
              </FieldGroup>
            );
          }
          return (
            <TextAreaField
              key={field}
              {...around}
              value={draft[field]}
              onChange={(text) => change({ [field]: text })}
            />
          );
        })}
        <div className="flex items-center gap-2">
          <AllowedButton
            needs="evaluate"
            type="submit"
            variant="primary"
            icon={<Play aria-hidden />}
            isBusy={attempt.isPending}
          >
            Evaluate
          </AllowedButton>
          {isChanged && (
            <Button
              variant="quiet"
              onClick={() => {
                discard();
                attempt.reset();
              }}
            >
              Clear
            </Button>
          )}
        </div>
      </form>
      <div aria-live="polite" className="empty:hidden">
        {attempt.error !== null && !isAtField && (
          <div className="px-4 pb-4">
            <ErrorNotice error={attempt.error} />
          </div>
        )}
        {item !== undefined && <TryResult item={item} />}
      </div>
    </Card>
  );
}

/** The required and the optional texts of an example, in reading order. */
export function sampleFields(
  { required_input_fields, optional_input_fields }: EvaluatorFamily,
  config: Record<string, unknown>,
): { needed: SampleField[]; taken: SampleField[] } {
  // A judge's profile lists the fields that its criteria use.
  const byProfile = Array.isArray(config.required_fields) ? config.required_fields : [];
  const needed = all.filter((field) => required_input_fields.includes(field) || byProfile.includes(field));
  const taken = all.filter((field) => optional_input_fields.includes(field) && !needed.includes(field));
  return { needed, taken };
}

/** Required texts are sent even if empty, optional ones only if filled in. */
export function toSample(
  draft: Record<SampleField, string>,
  needed: readonly SampleField[],
  taken: readonly SampleField[],
): Pick<EvaluateRequest, SampleField> {
  const textOf = (field: SampleField) =>
    needed.includes(field) || (taken.includes(field) && draft[field] !== "") ? draft[field] : undefined;
  const contexts = textOf("evaluated_model_retrieved_context");
  return {
    evaluated_model_system_prompt: textOf("evaluated_model_system_prompt"),
    evaluated_model_retrieved_context: contexts === undefined ? undefined : readContexts(contexts),
    evaluated_model_input: textOf("evaluated_model_input"),
    evaluated_model_output: textOf("evaluated_model_output"),
    evaluated_model_gold_answer: textOf("evaluated_model_gold_answer"),
  };
}

/** Drafts consist of strings, so lists are stored as JSON. */
export function readContexts(text: string): string[] {
  return text === "" ? [] : JSON.parse(text);
}

export function writeContexts(texts: readonly string[]): string {
  return texts.length === 0 ? "" : JSON.stringify(texts);
}

function TryResult({ item: { status, error_message, evaluation_result: result } }: { item: EvaluateItem }) {
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
          label="Positions in the output"
          text={result?.evaluated_model_output ?? ""}
          positions={positions}
        />
      )}
      {extra && Object.keys(extra).length > 0 && (
        <details>
          <summary className="cursor-pointer text-sm font-medium">Details</summary>
          <div className="mt-2">
            <CodeBlock code={JSON.stringify(extra, null, 2)} label="the details" language="json" />
          </div>
        </details>
      )}
    </section>
  );
}
