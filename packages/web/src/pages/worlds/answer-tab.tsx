import type { DatasetSample, World } from "@presage/sdk";
import { useMutation, useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { CornerDownRight, Orbit, Shuffle } from "lucide-react";
import { type ReactNode, Suspense, useMemo, useRef, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { type Predicted, readTiming, requestCostQuery, usePredict } from "../../data/predictions.ts";
import { referenceOf } from "../../data/worlds.ts";
import { PageError } from "../../format/errors.ts";
import { counted, formatCost, formatCount, formatDuration, formatFields } from "../../format/numbers.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { sayHowSure } from "../../parts/worlds.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { TextDifference } from "../../ui/difference/text-difference.tsx";
import { TextAreaField } from "../../ui/form/fields.tsx";
import { fieldIssues, focusFirstIssue, issueAt, useDraft } from "../../ui/form/form.tsx";
import { lazyPart } from "../../ui/load.ts";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Explained } from "../../ui/tooltip.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";

const LeanedOn = lazyPart(async () => (await import("../../parts/leaned-on.tsx")).LeanedOn);

export function AnswerTab({ world }: { world: World }) {
  const form = useRef<HTMLFormElement>(null);
  const { draft, change } = useDraft(`answer ${world.name}`, noDraft);
  const step = { state: draft.state, action: draft.action };
  const recorded = useMemo<DatasetSample | undefined>(() => parsed(draft.recorded), [draft.recorded]);
  const path = useMemo<PastStep[]>(() => parsed(draft.path) ?? [], [draft.path]);
  const [isChecked, setChecked] = useState(false);
  const { mutate, data, variables, error, isPending } = usePredict();
  const [isReplacing, setReplacing] = useState(false);
  const draw = useRecordedStep(world, (sample) => {
    const { state = "", action = "" } = sample.interaction ?? {};
    change({ state, action, recorded: JSON.stringify(sample), path: "" });
  });
  // The recorded next state belongs only to the unchanged recorded step.
  const isRecorded =
    recorded?.interaction?.state === step.state && recorded.interaction.action === step.action;
  const origin = isRecorded || path.length > 0 ? recorded : undefined;
  const answered = isPending ? undefined : data;
  const asked = variables?.request.interaction;
  const isOfStep = asked?.state === step.state && asked.action === step.action;
  const refused = fieldIssues(error);
  const issueOf = (field: "state" | "action") =>
    isChecked && step[field] === "" ? "This field is required." : issueAt(refused, "interaction", field);

  function ask() {
    setChecked(true);
    if (step.state === "" || step.action === "") {
      setTimeout(() => focusFirstIssue(form.current));
      return;
    }
    const own = origin !== undefined && {
      ...(origin.context && { context: origin.context }),
      exclude: { trajectory_ids: [origin.trajectory_id], tags: ownTags(world, origin) },
    };
    const history = path.length > 0 && { history: path.slice(-mostSteps) };
    const request = { interaction: step, ...own, ...history, world: referenceOf(world), explain: true };
    mutate({ request, deployment: undefined });
  }

  function goOn(action: string, next_state: string) {
    change({
      state: next_state,
      action: "",
      // The context of the recorded step applies only to steps that began with it.
      recorded: origin === undefined ? "" : draft.recorded,
      path: JSON.stringify([...path, { action, next_state }]),
    });
    setChecked(false);
    form.current?.querySelectorAll("textarea")[1]?.focus();
  }

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 p-4 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        <form
          ref={form}
          aria-label="A step"
          noValidate
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (!isPending) ask();
          }}
        >
          <TextAreaField
            label="State"
            hint="What the agent sees before it acts."
            issue={issueOf("state")}
            value={step.state}
            onChange={(state) => change({ state, path: "" })}
          />
          <TextAreaField
            label="Action"
            className="min-h-10"
            issue={issueOf("action")}
            value={step.action}
            onChange={(action) => change({ action })}
          />
          <div className="flex flex-wrap items-center gap-2">
            <AllowedButton needs="predict" type="submit" variant="primary" isBusy={isPending}>
              Answer
            </AllowedButton>
            {world.pinned.examples !== null && (
              <Button
                icon={<Shuffle aria-hidden />}
                isBusy={draw.isPending}
                onClick={() =>
                  isRecorded || step.state + step.action === "" ? draw.mutate() : setReplacing(true)
                }
                title="Its own trajectory is left out of the examples"
              >
                A recorded step
              </Button>
            )}
          </div>
        </form>
        <ConfirmDialog
          isOpen={isReplacing}
          onClose={() => setReplacing(false)}
          title="Replace this step?"
          confirmLabel="Replace"
          onConfirm={() => {
            setReplacing(false);
            draw.mutate();
          }}
        >
          Its state and its action are not kept.
        </ConfirmDialog>
        {[draw.error, refused.length > 0 ? null : error].map(
          (failure, index) =>
            failure !== null && <ErrorNotice key={index === 0 ? "draw" : "ask"} error={failure} />,
        )}
        {answered !== undefined && (
          <Answer answered={answered} expected={isRecorded && isOfStep ? recorded?.next_state : undefined}>
            {asked && isOfStep && (
              <Button
                icon={<CornerDownRight aria-hidden />}
                onClick={() => goOn(asked.action, answered.prediction.response.content)}
                title="The answer becomes the state of the next step"
                className="self-start"
              >
                Continue from this answer
              </Button>
            )}
          </Answer>
        )}
      </div>
      {answered === undefined ? (
        <EmptyState icon={Orbit} title={isPending ? "Looking for examples" : "No answer yet"}>
          Write a step, or take one of the dataset: the answer stands beside what was recorded, and its own
          trajectory is no example.
        </EmptyState>
      ) : (
        <Suspense>
          <LeanedOn prediction={answered.prediction} preview={answered.preview} isSaid />
        </Suspense>
      )}
    </div>
  );
}

/** The tags of the step's task, if the world excludes recorded steps by tag. */
function ownTags({ config }: World, { tags }: DatasetSample): Record<string, string> {
  const [, tag = ""] = /^tag:(.*)/s.exec(config.retrieval?.exclude_by ?? "") ?? [];
  const value = tags?.[tag];
  return value === undefined ? {} : { [tag]: value };
}

/** The step, the recorded step that it is or began with, and the steps since then; the last two as JSON. */
const noDraft = { state: "", action: "", recorded: "", path: "" };

/** A step that led to the current state. */
interface PastStep {
  action: string;
  next_state: string;
}

function parsed(json: string) {
  return json === "" ? undefined : JSON.parse(json);
}

/** The greatest number of earlier steps in a request. */
const mostSteps = 64;

interface AnswerProps {
  answered: Predicted;
  expected: string | undefined;
  children: ReactNode;
}

function Answer({ answered, expected, children }: AnswerProps) {
  const { prediction, headers } = answered;
  const { content } = prediction.response;
  const sure = sayHowSure(prediction);
  return (
    <section aria-label="Answer" className="flex min-w-0 flex-col gap-3">
      <header className="flex flex-col gap-0.5">
        {sure !== undefined && (
          <p className={clsx("font-medium", prediction.abstained && "text-warn")}>
            <Explained text={`Before calibration: ${formatFields(prediction.explain?.scores ?? {})}`}>
              {sure}
            </Explained>
          </p>
        )}
        <Effort prediction={prediction} headers={headers} />
      </header>
      <PlainText text={content} label={`Answer by ${prediction.world?.answered_by ?? "the model"}`} />
      {expected === content ? (
        <p className="text-sm text-pass">Exactly what was recorded.</p>
      ) : (
        expected !== undefined && (
          <TextDifference
            before={expected}
            after={content}
            beforeLabel="Recorded"
            afterLabel="Answer"
            isPredicted
          />
        )
      )}
      {children}
    </section>
  );
}

/** The time, the tokens and the cost of an answer. */
function Effort({ prediction, headers }: Pick<Predicted, "prediction" | "headers">) {
  const { usage, explain, world } = prediction;
  const tokens = usage.prompt_tokens + usage.completion_tokens;
  const { data } = useQuery({
    ...requestCostQuery(usePresage(), headers.get("x-request-id") ?? ""),
    // Answers from records alone cost nothing.
    enabled: tokens > 0,
  });
  const timing = readTiming(headers.get("server-timing"));
  const asked = explain?.predictions ?? 1;
  const texts = [
    timing && formatDuration(timing.totalMs),
    world?.answered_by === "retrieval"
      ? "no model asked"
      : `${formatCount(usage.prompt_tokens)} + ${formatCount(usage.completion_tokens)} tokens, in + out`,
    asked > 1 && counted(asked, "completion"),
    data?.cost != null && data.currency !== null && formatCost(data.cost, data.currency),
    headers.get("x-presage-cache") === "hit" && "from the cache",
  ];
  return <p className="text-xs text-ink-3 tabular-nums">{texts.filter(Boolean).join(" · ")}</p>;
}

/** Draws a step of the world's dataset. */
function useRecordedStep(world: World, onSuccess: (sample: DatasetSample) => void) {
  const presage = usePresage();
  return useMutation({
    onSuccess,
    async mutationFn() {
      const { dataset_id: id = "", revision = 1 } = world.pinned.examples ?? {};
      const { data } = await presage.datasets.pageOfTrajectories(id, { revision }, { limit: 200 });
      const drawn = data[Math.floor(Math.random() * data.length)];
      const { samples } = await presage.datasets.getTrajectory(id, drawn?.trajectory_id ?? "", {
        revision,
        limit: 200,
      });
      const steps = samples.filter(({ interaction }) => interaction !== undefined);
      const sample = steps[Math.floor(Math.random() * steps.length)];
      if (sample === undefined)
        throw new PageError(`No step of ${drawn?.trajectory_id} has a state and an action. Draw again.`);
      return sample;
    },
  });
}
