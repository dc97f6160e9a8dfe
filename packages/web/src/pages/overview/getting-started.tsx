import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDashed } from "lucide-react";
import type { ReactNode } from "react";
import { ExampleOffer } from "../../parts/example.tsx";
import { firstPrediction } from "../../parts/predictions.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import type { FirstSteps } from "./first-steps.ts";

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
