import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CircleCheck, CircleDashed, Cpu, FlaskConical, type LucideIcon, Upload } from "lucide-react";
import type { ReactNode } from "react";
import { usePresage } from "../../data/client.ts";
import { isSandbox, modelsQuery } from "../../data/predictions.ts";
import { AllowedLink } from "../../parts/allowed.tsx";
import { ExampleOffer } from "../../parts/example.tsx";
import { emptyDraft, fillPlayground, isPlaygroundEmpty } from "../../parts/playground-draft.ts";
import { firstPrediction } from "../../parts/predictions.ts";
import { commandName } from "../../session.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import type { FirstSteps } from "./first-steps.ts";

const importing = () => `${commandName()} import traces/*.json --name mine`;
const serving = () => `export PRESAGE_UPSTREAM_URL=\\\nhttp://localhost:8000/v1\n${commandName()} serve`;

/** Fills the playground with an example step, if it is empty. */
function offerStep(): void {
  if (isPlaygroundEmpty())
    fillPlayground({
      ...emptyDraft,
      state: "You are in the kitchen. The fridge is closed.",
      action: "open fridge",
    });
}

/** Three ways to start, and setup steps that are still to be done. */
export function GettingStarted({ hasKey, hasPredicted, hasEvaluated }: FirstSteps) {
  const { data: models, error, refetch } = useQuery(modelsQuery(usePresage()));
  const model = models?.find((one) => !isSandbox(one));
  return (
    <Card title="Get started">
      <ul
        aria-label="Ways in"
        className="grid divide-y divide-line *:border-line *:first:bg-accent-soft lg:grid-cols-2 *:first:lg:col-span-2 *:last:lg:border-l"
      >
        <Way
          icon={FlaskConical}
          title="See a finished comparison"
          action={<ExampleOffer variant="primary" />}
        >
          <p>
            Trajectories through rooms of the sandbox: two runs compared, and a world that answers from them.
            It calls no model, and goes again with one click.
          </p>
        </Way>
        <Way
          icon={Upload}
          title="Import my traces"
          action={
            <AllowedLink needs="evaluate" link={{ to: "/datasets", search: { upload: true } }}>
              Import traces
            </AllowedLink>
          }
        >
          <p>What an agent did and what its tools answered becomes a dataset: for runs, and for worlds.</p>
          <CodeBlock code={importing()} label="the command" language="shell" />
        </Way>
        <Way
          icon={Cpu}
          title="Connect my model"
          action={
            <Link to="/playground" onClick={offerStep} className={clsx(buttonClass({}), "max-w-full")}>
              <span className="truncate">
                {model === undefined ? "Ask the sandbox meanwhile" : `Ask ${model.id}`}
              </span>
            </Link>
          }
        >
          {error !== null ? (
            <ErrorNotice error={error} onRetry={refetch} />
          ) : model === undefined ? (
            <>
              <p>Any server with OpenAI’s API: vLLM, SGLang, Ollama, a provider. Start Presage with it:</p>
              <CodeBlock code={serving()} label="the command" language="shell" />
            </>
          ) : (
            <>
              <p>One is connected. Programs ask it with an API key:</p>
              <CodeBlock code={firstPrediction()} label="the command" language="shell" />
            </>
          )}
        </Way>
      </ul>
      <ol className="flex flex-wrap gap-x-6 gap-y-1 border-t border-line px-4 py-2.5 text-sm">
        <Step isDone={hasKey} to="/api-keys">
          Create an API key
        </Step>
        <Step isDone={hasPredicted} to="/playground">
          Make a prediction
        </Step>
        <Step isDone={hasEvaluated} to="/playground">
          Evaluate a response
        </Step>
      </ol>
    </Card>
  );
}

interface WayProps {
  icon: LucideIcon;
  title: string;
  action: ReactNode;
  children: ReactNode;
}

function Way({ icon: Icon, title, action, children }: WayProps) {
  return (
    <li className="flex min-w-0 flex-col gap-3 p-4">
      <h3 className="flex items-center gap-2 text-sm font-semibold">
        <Icon className="size-4 shrink-0 text-accent-ink" aria-hidden />
        {title}
      </h3>
      <div className="flex min-w-0 flex-1 flex-col gap-2 text-sm text-ink-2">{children}</div>
      <div className="flex flex-wrap">{action}</div>
    </li>
  );
}

function Step({
  isDone,
  to,
  children,
}: {
  isDone: boolean;
  to: "/api-keys" | "/playground";
  children: string;
}) {
  const Icon = isDone ? CircleCheck : CircleDashed;
  return (
    <li className="flex items-center gap-1.5 text-ink-2">
      <Icon className={isDone ? "size-4 text-pass" : "size-4 text-ink-3"} aria-hidden />
      {isDone ? (
        <span>
          {children}
          <span className="sr-only">, done</span>
        </span>
      ) : (
        <Link to={to} className="text-accent-ink underline-offset-2 hover:underline">
          {children}
        </Link>
      )}
    </li>
  );
}
