import type { EpisodeStep } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePresage } from "../../data/client.ts";
import { storedPredictionQuery } from "../../data/predictions.ts";
import { formatCount, formatDuration, formatScore } from "../../format/numbers.ts";
import { StoredLeaning } from "../../parts/leaned-on.tsx";
import { PromptTurns, promptOf } from "../../parts/prompt.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Card, Fold, InlineFacts } from "../../ui/card.tsx";
import { Awaited } from "../../ui/notice.tsx";
import { StepPager } from "../../ui/steps/step-pager.tsx";
import { StepTexts } from "../../ui/steps/step-texts.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";

interface EpisodeStepCardProps {
  step: EpisodeStep;
  /** The observation before the step. */
  before: string;
  steps: readonly number[];
  link(step: number): LinkProps;
  /** The real environment's answer, if the step was replayed. */
  children?: ReactNode;
}

/** One step: the action, its effect, its reward, and the prompt. */
export function EpisodeStepCard({ step, before, steps, link, children }: EpisodeStepCardProps) {
  const { action, observation, info, terminated, truncated } = step;
  const { data: prediction } = useQuery(storedPredictionQuery(usePresage(), info.prediction_id));
  return (
    <Card>
      <div className="flex flex-col gap-4 p-4">
        <StepPager steps={steps} current={info.step} link={link}>
          Step {info.step}
          {(terminated || truncated) && (
            <span className="ml-2 inline-flex max-w-full align-middle">
              <Badge tone={truncated ? "warn" : info.outcome === "success" ? "pass" : "fail"}>
                {truncated ? "cut short" : (info.outcome ?? "ended")}
              </Badge>
            </span>
          )}
        </StepPager>
        <StepFacts step={step} />
        {info.reward_error !== null && (
          <p className="rounded-md bg-warn-soft px-3 py-2 text-sm wrap-anywhere text-warn">
            There is no reward: <InlineText text={info.reward_error} />
          </p>
        )}
        <PlainText text={action} label="Action" />
        {children}
        <StepTexts before={before} after={observation} beforeLabel="Before" afterLabel="Observation" />
        <SentPrompt predictionId={info.prediction_id} />
        {/* Loaded later, so it is below the other parts. */}
        {prediction?.world && <StoredLeaning of={prediction} />}
      </div>
    </Card>
  );
}

function StepFacts({ step: { reward, info } }: { step: EpisodeStep }) {
  const { data, isPending } = useQuery(storedPredictionQuery(usePresage(), info.prediction_id));
  // Loaded later: it is the last fact, so nothing moves when it appears, or is missing.
  const finish = isPending ? "…" : data?.finish_reason;
  return (
    <InlineFacts
      facts={[
        ["Reward", "What the step was worth", reward === null ? null : formatScore(reward)],
        [
          "Latency",
          "From the call to the model to its response",
          info.latency_ms === null ? "–" : formatDuration(info.latency_ms),
        ],
        [
          "Tokens",
          `As the model counted them; ${formatCount(info.cached_tokens)} of the prompt’s were in its cache`,
          info.prompt_tokens &&
            `${formatCount(info.prompt_tokens)} in, ${formatCount(info.completion_tokens)} out`,
        ],
        ["Deployment", undefined, info.deployment ?? "–"],
        ["Model", undefined, info.model],
        ["Finish", undefined, finish && <span className="inline-block min-w-12">{finish}</span>],
      ]}
    />
  );
}

/** The prompt of the step. Closed at first, as it repeats what is above. */
function SentPrompt({ predictionId }: { predictionId: string }) {
  const prediction = useQuery(storedPredictionQuery(usePresage(), predictionId));
  const { params = null, reasoning = null } = prediction.data ?? {};
  return (
    <>
      <Fold title="Prompt as sent">
        {prediction.data === undefined ? (
          <Awaited error={prediction.error} onRetry={prediction.refetch} count={2} className="h-16" />
        ) : (
          <PromptTurns turns={promptOf(prediction.data)} />
        )}
        {params !== null && <PlainText text={JSON.stringify(params)} label="Parameters" />}
      </Fold>
      {reasoning !== null && reasoning !== "" && <PlainText text={reasoning} label="Reasoning" isProse />}
    </>
  );
}
