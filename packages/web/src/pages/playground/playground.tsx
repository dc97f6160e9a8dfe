import type { World, WorldModelRequest } from "@presage/sdk";
import { Play } from "lucide-react";
import { type Ref, useDeferredValue, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useRefusal } from "../../data/accounts.ts";
import { referenceOf } from "../../data/worlds.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { emptyDraft, type Issues, readDraft, usePlaygroundDraft } from "../../parts/playground-draft.ts";
import { isOfRecords } from "../../parts/worlds.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { fieldIssues, focusFirstIssue } from "../../ui/form/form.tsx";
import { Keys } from "../../ui/shortcuts.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { CodeTab } from "./code-tab.tsx";
import { DraftActions } from "./draft-actions.tsx";
import { EvaluateResponse, useEvaluations } from "./evaluate-response.tsx";
import { examples } from "./examples.ts";
import { InputPanel } from "./input-panel.tsx";
import { PromptTab } from "./prompt-tab.tsx";
import { ResponseTab } from "./response-tab.tsx";
import { usePredictions } from "./use-predictions.ts";

interface PlaygroundProps {
  model: string | undefined;
  /** The deployment to ask, unless it is the default one. */
  deployment: string | undefined;
  /** The world that answers in place of a deployment. */
  world: World | undefined;
}

export function Playground({
  isUnknown,
  model,
  deployment,
  world,
}: PlaygroundProps & { isUnknown: boolean }) {
  const [sentDraft, setSentDraft] = useState<object>();
  const [isChecked, setChecked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const predictButton = useRef<HTMLButtonElement>(null);
  const output = useRef<HTMLDivElement>(null);
  const drafting = usePlaygroundDraft((world === undefined && examples[0]?.draft) || emptyDraft);
  const predictions = usePredictions();
  const mayNotPredict = useRefusal("predict") !== undefined;
  const [tab, setTab] = useState<OutputTab>(predictions.responses.length > 0 ? "response" : "prompt");

  const { draft } = drafting;
  const { request, issues } = readDraft(draft);
  const visibleIssues = {
    // The server's issues apply only to the draft that was sent.
    ...(sentDraft === draft && serverIssues(predictions.error)),
    // Missing input is not an issue before the first attempt to predict.
    ...(isChecked ? issues : issuesOfParams(issues)),
  };

  function predict() {
    // Ctrl+Enter works even if the button is inactive.
    if (predictions.isPending || mayNotPredict || isUnknown) return;
    if (Object.keys(issues).length > 0) {
      flushSync(() => setChecked(true));
      focusFirstIssue(form.current);
      return;
    }
    setChecked(false);
    setSentDraft(draft);
    setTab("response");
    predictions.predict({
      request: throughWorld(request, world),
      deployment: world === undefined ? deployment : undefined,
    });
    scrollIntoSight(output.current);
  }

  function cancel() {
    predictions.cancel();
    // The pressed button is about to disappear.
    predictButton.current?.focus({ preventScroll: true });
  }

  return (
    <div className="grid shrink-0 grid-cols-[minmax(0,1fr)] gap-4 lg:min-h-0 lg:flex-1 lg:shrink lg:grid-cols-2 lg:grid-rows-[minmax(0,1fr)]">
      <InputPanel
        ref={form}
        draft={draft}
        world={world}
        issues={visibleIssues}
        onChange={drafting.change}
        onSubmit={predict}
        actions={<DraftActions drafting={drafting} />}
        footer={
          <PredictBar
            ref={predictButton}
            isUnknown={isUnknown}
            isPending={predictions.isPending}
            isStored={drafting.isStored}
            onCancel={cancel}
          />
        }
      />
      <div ref={output} className="flex min-h-0 min-w-0 flex-col">
        <Output
          model={model}
          deployment={deployment}
          world={world}
          drafting={drafting}
          predictions={predictions}
          tab={tab}
          onChooseTab={setTab}
          onRetry={predict}
          onCancel={cancel}
        />
      </div>
    </div>
  );
}

/** A request through a world: asks for an explanation, and has no parameters if the world answers from its records alone. */
function throughWorld(
  { params, ...request }: WorldModelRequest,
  world: World | undefined,
): WorldModelRequest {
  return {
    ...request,
    ...(params && (world === undefined || !isOfRecords(world.config)) && { params }),
    ...(world && { world: referenceOf(world), explain: true }),
  };
}

function issuesOfParams(issues: Issues): Issues {
  return Object.fromEntries(Object.entries(issues).filter(([path]) => path.startsWith("params.")));
}

/** Needed because on narrow screens the output is below the input. */
function scrollIntoSight(output: HTMLElement | null): void {
  const top = output?.getBoundingClientRect().top ?? 0;
  if (top > innerHeight / 2) output?.scrollIntoView({ behavior: "smooth" });
}

/** The server's issues, by their path in the request. */
function serverIssues(error: unknown): Issues {
  return Object.fromEntries(fieldIssues(error).map(({ path, text }) => [path.join("."), text]));
}

type OutputTab = "prompt" | "response" | "code";

interface OutputProps extends PlaygroundProps {
  drafting: ReturnType<typeof usePlaygroundDraft>;
  predictions: ReturnType<typeof usePredictions>;
  tab: OutputTab;
  onChooseTab(tab: OutputTab): void;
  onRetry(): void;
  onCancel(): void;
}

function Output(props: OutputProps) {
  const { model, deployment, world, drafting, predictions, tab, onChooseTab, onRetry, onCancel } = props;
  const evaluations = useEvaluations();
  // Deferred, so that typing stays fast with long texts.
  const request = throughWorld(readDraft(useDeferredValue(drafting.draft)).request, world);
  return (
    <Card className="flex min-h-0 flex-1 flex-col">
      <Tabs
        label="Prompt, response and code"
        isFull
        value={tab}
        onChange={onChooseTab}
        tabs={[
          {
            value: "prompt",
            label: "Prompt",
            content: <PromptTab request={request} model={model} world={world} />,
          },
          {
            value: "response",
            label:
              predictions.responses.length > 1 ? `Responses (${predictions.responses.length})` : "Response",
            content: (
              <ResponseTab {...predictions} draft={drafting.draft} onRetry={onRetry} onCancel={onCancel}>
                {(response) => (
                  <EvaluateResponse
                    response={response}
                    evaluations={evaluations}
                    goldAnswer={drafting.draft.goldAnswer}
                    onGoldAnswer={(goldAnswer) => drafting.change({ goldAnswer })}
                  />
                )}
              </ResponseTab>
            ),
          },
          {
            value: "code",
            label: "Code",
            content: (
              <CodeTab
                input={{
                  request,
                  origin: location.origin,
                  model: request.world ?? deployment ?? model ?? "model-name",
                  deployment: world === undefined ? deployment : undefined,
                }}
              />
            ),
          },
        ]}
      />
    </Card>
  );
}

interface PredictBarProps {
  ref: Ref<HTMLButtonElement>;
  /** Whether the chosen world does not exist, or is not loaded yet. */
  isUnknown: boolean;
  isPending: boolean;
  isStored: boolean;
  onCancel(): void;
}

function PredictBar({ ref, isUnknown, isPending, isStored, onCancel }: PredictBarProps) {
  return (
    <>
      <AllowedButton
        needs="predict"
        ref={ref}
        type="submit"
        variant="primary"
        icon={<Play aria-hidden />}
        isBusy={isPending}
        disabled={isUnknown}
      >
        Predict
      </AllowedButton>
      {isPending && <Button onClick={onCancel}>Cancel</Button>}
      <span className="max-sm:hidden">
        <Keys keys="mod+Enter" />
      </span>
      <span className="flex-1" />
      {!isStored && (
        <span role="status" className="text-xs text-warn">
          Too long for this browser to save: reloading the page would lose it.
        </span>
      )}
    </>
  );
}
