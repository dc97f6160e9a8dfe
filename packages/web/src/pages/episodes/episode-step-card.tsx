import type { EpisodeStep } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePresage } from "../../data/client.ts";
import { storedPredictionQuery } from "../../data/predictions.ts";
import { formatCount, formatDuration, formatScore } from "../../format/numbers.ts";
import { promptOf, roleLabels } from "../../parts/prompt.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card, Fact, Fold } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { StepPager } from "../../ui/steps/step-pager.tsx";
import { StepTexts } from "../../ui/steps/step-texts.tsx";
import { ExplainedName } from "../../ui/tooltip.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";

interface EpisodeStepCardProps {
  step: EpisodeStep;
  /** The observation before it. */
  before: string;
  steps: readonly number[];
  link(step: number): LinkProps;
  /** What reality answered, if it was asked. */
  children?: ReactNode;
}

/** One step: the action, what it changed, what it was worth, and what the model was asked. */
export function EpisodeStepCard({ step, before, steps, link, children }: EpisodeStepCardProps) {
  const { action, observation, info, terminated, truncated } = step;
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
      </div>
    </Card>
  );
}

function StepFacts({ step: { reward, info } }: { step: EpisodeStep }) {
  const prediction = useQuery(storedPredictionQuery(usePresage(), info.prediction_id));
  const facts: [name: string, title: string | undefined, value: ReactNode][] = [
    ["Reward", "What the step was worth", formatScore(reward)],
    [
      "Latency",
      "From the call to the model to its response",
      info.latency_ms === null ? "–" : formatDuration(info.latency_ms),
    ],
    [
      "Tokens",
      `As the model counted them; ${formatCount(info.cached_tokens)} of the prompt’s were in its cache`,
      `${formatCount(info.prompt_tokens)} in, ${formatCount(info.completion_tokens)} out`,
    ],
    ["Deployment", undefined, info.deployment ?? "–"],
    ["Model", undefined, info.model ?? "–"],
    // Nothing moves when it comes.
    [
      "Finish",
      undefined,
      <span key="finish" className="inline-block min-w-12">
        {prediction.isPending ? "…" : (prediction.data?.finish_reason ?? "–")}
      </span>,
    ],
  ];
  return (
    <dl className="flex min-w-0 flex-wrap gap-x-6 gap-y-1 text-sm tabular-nums">
      {facts.map(([name, title, value]) => (
        <Fact key={name} look="inline" name={<ExplainedName name={name} explanation={title} />}>
          <span className="wrap-anywhere">{value}</span>
        </Fact>
      ))}
    </dl>
  );
}

/** What the model was asked for the step. Closed at first, as it repeats what is above. */
function SentPrompt({ predictionId }: { predictionId: string }) {
  const prediction = useQuery(storedPredictionQuery(usePresage(), predictionId));
  const { params = null, reasoning = null } = prediction.data ?? {};
  return (
    <>
      <Fold title="Prompt as sent">
        {prediction.data === undefined ? (
          prediction.error === null ? (
            <SkeletonRows count={2} className="h-16" />
          ) : (
            <ErrorNotice error={prediction.error} onRetry={prediction.refetch} />
          )
        ) : (
          promptOf(prediction.data).map(({ role, content }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the turns of one prediction never change
            <PlainText key={index} text={content} label={roleLabels[role] ?? role} />
          ))
        )}
        {params !== null && <PlainText text={JSON.stringify(params)} label="Parameters" />}
      </Fold>
      {/* Below what is there already. */}
      {reasoning !== null && reasoning !== "" && <PlainText text={reasoning} label="Reasoning" isProse />}
    </>
  );
}
