import { describeGoal, describePrevious, isMeant, nameOfPrevious } from "@presage/contract/describe-runs";
import type { Run, RunReport } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Target } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useSetGoal } from "../../../data/runs.ts";
import { unbroken } from "../../../format/numbers.ts";
import { withoutVersion } from "../../../format/words.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { evaluatorKey, evaluatorOptions, nameEvaluator } from "../../../parts/evaluator-names.ts";
import { judgeGoal, type Said, ToneIcon } from "../../../parts/runs.tsx";
import type { Tone } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";

interface DecisionProps {
  run: Run;
  report: RunReport;
  chosen: RunReport["evaluators"][number];
  /** How it compares with the best baseline. */
  answer: Said & { detail: string };
}

/** Whether the run reaches its goal, beats the best baseline, and differs from the previous run: the server's decisions, in a sentence each. */
export function Decision({ run, report, chosen, answer }: DecisionProps) {
  const [isSetting, setSetting] = useState(false);
  const { goal, previous, evaluators } = report;
  const ofGoal = goal === null ? undefined : evaluators.find((one) => isMeant(goal, one));
  const compared = previous?.evaluators.find((one) => evaluatorKey(one) === evaluatorKey(chosen));
  return (
    <>
      <div className="flex flex-wrap items-start gap-x-3 gap-y-1 text-sm">
        <div className="flex min-w-0 flex-1 basis-80 flex-col gap-1 font-medium">
          {goal !== null && (
            <Sentence
              tone={judgeGoal(goal).tone}
              text={describeGoal(goal, ofGoal, ofGoal ? nameEvaluator(ofGoal, evaluators) : goal.evaluator)}
            />
          )}
          <Sentence {...answer} />
          <p className="min-h-[1lh] font-normal text-ink-2 empty:hidden">{answer.detail}</p>
        </div>
        <AllowedButton
          needs="evaluate"
          size="small"
          icon={<Target aria-hidden />}
          onClick={() => setSetting(true)}
        >
          {goal === null ? "Set a goal" : "Change the goal"}
        </AllowedButton>
      </div>
      {previous !== null && compared != null && compared.difference !== null && (
        <p className="text-sm text-ink-2">
          <Link
            to="/compare"
            search={{ runs: `${previous.run_id},${run.id}` }}
            className="text-accent-ink underline underline-offset-2"
          >
            {nameOfPrevious(previous)}
          </Link>
          , by {nameEvaluator(chosen, evaluators)}: {unbroken(describePrevious(previous, compared))}.
        </p>
      )}
      <GoalDialog
        key={String(isSetting)}
        run={run}
        report={report}
        isOpen={isSetting}
        onClose={() => setSetting(false)}
      />
    </>
  );
}

/** A sentence, after an icon in the colour of what it says. */
function Sentence({ tone, text }: Said) {
  return (
    <p className="flex items-start gap-2">
      <ToneIcon tone={tone} className={clsx("mt-0.5 size-4 shrink-0", inks[tone])} />
      <span className="min-w-0">{unbroken(text)}</span>
    </p>
  );
}

const inks: { [tone in Tone]?: string } = { pass: "text-pass", fail: "text-fail", warn: "text-warn" };

interface GoalDialogProps extends Pick<DecisionProps, "run" | "report"> {
  isOpen: boolean;
  onClose(): void;
}

function GoalDialog({ run, report: { goal, evaluators }, isOpen, onClose }: GoalDialogProps) {
  const [percent, setPercent] = useState(goal === null ? "" : String(+(100 * goal.pass_rate).toFixed(1)));
  const current = goal === null ? undefined : evaluators.find((one) => isMeant(goal, one));
  const [key, setKey] = useState(current === undefined ? "" : evaluatorKey(current));
  const save = useSetGoal(run.name);
  const meant = evaluators.find((one) => evaluatorKey(one) === key) ?? evaluators[0];
  const share = Number(percent) / 100;
  const isFine = percent.trim() !== "" && share >= 0 && share <= 1 && meant !== undefined;
  const store = (wanted: Parameters<typeof save.mutate>[0]) => save.mutate(wanted, { onSuccess: onClose });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isFine) return;
    // Stores the family, so that the goal also applies to later versions of the evaluator.
    store({ evaluator: withoutVersion(meant.evaluator), profile_name: meant.profile_name, pass_rate: share });
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      hasForm
      title="The goal"
      hint={`The pass rate that all runs named “${run.name}” are to reach.`}
    >
      <form className="flex flex-col gap-3" noValidate onSubmit={submit}>
        <SelectField
          label="Evaluator"
          value={meant === undefined ? "" : evaluatorKey(meant)}
          options={evaluatorOptions(evaluators)}
          onChange={setKey}
        />
        <TextField
          label="Pass rate in percent"
          inputMode="decimal"
          issue={percent === "" || isFine ? undefined : "A number from 0 to 100."}
          value={percent}
          onChange={setPercent}
        />
        {save.error !== null && <ErrorNotice error={save.error} />}
        <div className="flex justify-end gap-2">
          {goal !== null && (
            <Button variant="quiet" isBusy={save.isPending} onClick={() => store(null)}>
              Remove the goal
            </Button>
          )}
          <Button type="submit" variant="primary" isBusy={save.isPending} disabled={!isFine}>
            Set the goal
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
