import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDashed } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { apiKeysQuery } from "../../data/api-keys.ts";
import { evaluationCountQuery, type PeriodSummary } from "../../data/evaluation/summaries.ts";
import { isPrediction } from "../../data/figures/usage-figures.ts";
import { type ComparedUsage, everPredictedQuery } from "../../data/usage.ts";
import { usePresage } from "../../data/use-presage.ts";
import { signedInUserId } from "../../session/signed-in-user-id.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { ExampleOffer } from "../example/example-offer.tsx";
import { firstPrediction } from "../first-prediction.ts";

/** What a new user has not done yet. */
export interface FirstSteps {
  hasKey: boolean;
  hasPredicted: boolean;
  hasEvaluated: boolean;
}

const storageKey = () => `presage-first-steps-done:${signedInUserId()}`;

/**
 * Undefined until everything is known; null once all is done, which is remembered, so that the page of somebody who has begun long ago
 * waits for nothing.
 */
export function useFirstSteps({ usage, summary }: FirstStepsOptions): FirstSteps | null | undefined {
  const presage = usePresage();
  const [isDone] = useState(wereDone);
  const predictsNow = usage?.current.data.some(isPrediction);
  const evaluatesNow = summary && summary.all.count > 0;
  const { data: keys } = useQuery({ ...apiKeysQuery(presage), enabled: !isDone });
  const { data: predictedBefore } = useQuery({
    ...everPredictedQuery(presage),
    enabled: !isDone && predictsNow === false,
  });
  const { data: evaluationCount } = useQuery({
    ...evaluationCountQuery(presage),
    enabled: !isDone && evaluatesNow === false,
  });
  const hasPredicted = predictsNow || predictedBefore;
  const hasEvaluated = evaluatesNow || (evaluationCount === undefined ? undefined : evaluationCount > 0);
  const areAllDone = hasPredicted === true && hasEvaluated === true;
  useEffect(() => {
    if (areAllDone) rememberDone();
  }, [areAllDone]);
  if (isDone || areAllDone) return null;
  if (keys === undefined || hasPredicted === undefined || hasEvaluated === undefined) return undefined;
  return { hasKey: keys.some(({ revoked_at }) => !revoked_at), hasPredicted, hasEvaluated };
}

function wereDone(): boolean {
  try {
    return localStorage.getItem(storageKey()) !== null;
  } catch {
    // Storage that is denied is like an empty one.
    return false;
  }
}

function rememberDone(): void {
  try {
    localStorage.setItem(storageKey(), new Date().toISOString());
  } catch {
    // It is found out again next time.
  }
}

interface FirstStepsOptions {
  usage: ComparedUsage | undefined;
  summary: PeriodSummary | undefined;
}

export function GettingStarted({ hasKey, hasPredicted, hasEvaluated }: FirstSteps) {
  return (
    <Card title="Get started">
      <ol className="divide-y divide-line">
        <StepRow
          title="Create an API key"
          isDone={hasKey}
          action={
            <Link to="/api-keys" className={buttonClass({ size: "small", variant: "primary" })}>
              Create key
            </Link>
          }
        >
          <p>Programs authenticate with an API key.</p>
        </StepRow>
        <StepRow
          title="Make a prediction"
          isDone={hasPredicted}
          action={
            <Link
              to="/playground"
              className={buttonClass({ size: "small", variant: hasKey ? "primary" : "secondary" })}
            >
              Open the playground
            </Link>
          }
        >
          <p>Try it in the playground, or from a shell:</p>
          <CodeBlock code={firstPrediction()} label="the command" language="shell" />
        </StepRow>
        <StepRow
          title="Evaluate a response"
          isDone={hasEvaluated}
          action={
            <Link to="/playground" className={buttonClass({ size: "small" })}>
              Evaluate in the playground
            </Link>
          }
        >
          <p>
            Choose “Evaluate this” below a response in the playground, or send outputs to{" "}
            <code className="font-mono text-xs">POST /v1/evaluate</code>, as the{" "}
            <a href="/docs" className="text-accent-ink underline underline-offset-2">
              API reference
            </a>{" "}
            describes.
          </p>
        </StepRow>
        <StepRow title="Look at an example" isDone={false} action={<ExampleOffer />}>
          <p>
            Trajectories through rooms of the sandbox, two finished runs and their comparison. It can be
            removed again, and calls no model.
          </p>
        </StepRow>
      </ol>
    </Card>
  );
}

interface StepRowProps {
  title: string;
  isDone: boolean;
  action: ReactNode;
  children: ReactNode;
}

function StepRow({ title, isDone, action, children }: StepRowProps) {
  return (
    <li className="flex gap-3 px-4 py-3">
      {isDone ? (
        <CircleCheck className="mt-0.5 size-4 shrink-0 text-pass" aria-hidden />
      ) : (
        <CircleDashed className="mt-0.5 size-4 shrink-0 text-ink-3" aria-hidden />
      )}
      <div className="flex min-w-0 flex-1 flex-wrap items-start gap-x-4 gap-y-2">
        <div className="flex min-w-0 flex-1 basis-64 flex-col gap-1.5 text-sm text-ink-2">
          <h3 className="font-medium text-ink">
            {title}
            {isDone && <span className="sr-only">, done</span>}
          </h3>
          {!isDone && children}
        </div>
        {!isDone && action}
      </div>
    </li>
  );
}
