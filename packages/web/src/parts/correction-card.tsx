import type { EvaluationResult } from "@presage/sdk";
import { CircleCheck, CircleX } from "lucide-react";
import { useCorrectResult } from "../data/results.ts";
import { Button } from "../ui/button.tsx";
import { TextAreaField, TextField } from "../ui/form/fields.tsx";
import { useDraft } from "../ui/form/form.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { Time } from "../ui/time.tsx";
import { PlainText } from "../ui/untrusted-text/plain-text.tsx";
import { AllowedButton } from "./allowed.tsx";

const emptyDraft = { verdict: "", score: "", comment: "" };

/** Lets a person override the evaluator’s verdict, which stays visible. */
export function CorrectionCard({ id, result }: { id: string; result: EvaluationResult }) {
  const { draft, change, discard } = useDraft(`correction:${id}`, emptyDraft);
  const { question, answers } = questionAbout(result);
  return (
    <section
      aria-label="Correction"
      className="flex flex-col gap-3 rounded-md border border-line px-3 py-2.5"
    >
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="min-w-0 flex-1 basis-full text-sm sm:basis-40">
          {result.correction === null ? question : <Corrected correction={result.correction} />}
        </h3>
        {answers.map(({ verdict, label }) => (
          <AnswerButton
            key={verdict}
            verdict={verdict}
            isChosen={draft.verdict === verdict}
            onClick={() => change({ verdict })}
          >
            {label}
          </AnswerButton>
        ))}
      </div>
      {result.correction?.comment && <PlainText text={result.correction.comment} label="Comment" isProse />}
      {draft.verdict !== "" && (
        <CorrectionForm id={id} result={result} draft={draft} onChange={change} onDone={discard} />
      )}
    </section>
  );
}

interface CorrectionFormProps {
  id: string;
  result: EvaluationResult;
  draft: typeof emptyDraft;
  onChange(part: Partial<typeof emptyDraft>): void;
  onDone(): void;
}

function CorrectionForm({ id, result, draft, onChange, onDone }: CorrectionFormProps) {
  const score = draft.score.trim() === "" ? undefined : Number(draft.score);
  const isScoreInvalid = score !== undefined && !(score >= 0 && score <= 1);
  const save = useCorrectResult(id, { onSuccess: onDone });
  const submit = () =>
    save.mutate({
      pass: draft.verdict === "pass",
      score_raw: score,
      comment: draft.comment.trim() === "" ? undefined : draft.comment,
    });
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isScoreInvalid) submit();
      }}
    >
      <div className="grid gap-3 sm:grid-cols-[8rem_1fr]">
        <TextField
          label="Score"
          hint={`Default: ${defaultScore(result, draft.verdict === "pass") ?? "none"}`}
          issue={isScoreInvalid ? "Enter a number from 0 to 1." : undefined}
          inputMode="decimal"
          value={draft.score}
          onChange={(text) => onChange({ score: text })}
        />
        <TextAreaField
          label="Comment"
          hint="Why, for later readers."
          value={draft.comment}
          onChange={(text) => onChange({ comment: text })}
        />
      </div>
      {save.error !== null && <ErrorNotice error={save.error} />}
      <div className="flex justify-end gap-2">
        <Button size="small" variant="quiet" onClick={onDone}>
          Cancel
        </Button>
        <AllowedButton needs="evaluate" size="small" variant="primary" type="submit" isBusy={save.isPending}>
          Save correction
        </AllowedButton>
      </div>
    </form>
  );
}

/** The score that the server stores if none is given: with the evaluator's own verdict, the evaluator's own score. */
export function defaultScore(
  { pass, score_raw }: Pick<EvaluationResult, "pass" | "score_raw">,
  verdict: boolean,
): number | null {
  return score_raw === null || verdict === pass ? score_raw : Number(verdict);
}

type Verdict = "pass" | "fail";

interface Question {
  question: string;
  answers: { verdict: Verdict; label: string }[];
}

/** Asks whether the evaluator’s verdict is right; asks for the verdict if there is none, or if a person has corrected it. */
function questionAbout({ pass, correction }: EvaluationResult): Question {
  if (pass === null || correction !== null) {
    return {
      question: "Does it pass?",
      answers: [
        { verdict: "pass", label: "It passes" },
        { verdict: "fail", label: "It fails" },
      ],
    };
  }
  return {
    question: "Is this verdict right?",
    answers: [
      { verdict: pass ? "pass" : "fail", label: pass ? "Yes, it passes" : "Yes, it fails" },
      { verdict: pass ? "fail" : "pass", label: pass ? "No, it fails" : "No, it passes" },
    ],
  };
}

interface AnswerButtonProps {
  verdict: Verdict;
  isChosen: boolean;
  onClick(): void;
  children: string;
}

function AnswerButton({ verdict, isChosen, onClick, children }: AnswerButtonProps) {
  const isPass = verdict === "pass";
  return (
    <Button
      size="small"
      aria-pressed={isChosen}
      icon={
        isPass ? (
          <CircleCheck className="text-pass" aria-hidden />
        ) : (
          <CircleX className="text-fail" aria-hidden />
        )
      }
      className={
        isPass
          ? "aria-pressed:border-pass aria-pressed:bg-pass-soft"
          : "aria-pressed:border-fail aria-pressed:bg-fail-soft"
      }
      onClick={onClick}
    >
      {children}
    </Button>
  );
}

function Corrected({ correction }: { correction: NonNullable<EvaluationResult["correction"]> }) {
  return (
    <>
      A person marked this as a {correction.pass ? "pass" : "fail"} <Time at={correction.created_at} />. Their
      verdict counts until someone changes it.
    </>
  );
}
