import type { DeploymentStatus, Model } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { Cpu, FlaskConical } from "lucide-react";
import { useId } from "react";
import { usePresage } from "../../data/client.ts";
import { deploymentsQuery, isSandbox, modelsQuery, useTabState } from "../../data/predictions.ts";
import { Badge } from "../../ui/badge.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Page } from "../../ui/page.tsx";
import { Playground } from "./playground.tsx";

const hint = "Write a state and an action, see the exact prompt, and predict what comes next.";
const sandboxHint =
  "Predictions come from the built-in sandbox, a rule-based simulator, not from a language model. Set PRESAGE_UPSTREAM_URL to use one.";

export const playgroundRoute = createLazyRoute("/playground")({ component: PlaygroundPage });

function PlaygroundPage() {
  const presage = usePresage();
  const models = useQuery(modelsQuery(presage));
  const { data: deployments = [] } = useQuery(deploymentsQuery(presage));
  const [chosenName, choose] = useTabState<string | undefined>("playground deployment", undefined);
  const first = models.data?.[0];
  // Where there are several, the list of models begins with their names.
  const isChoice = deployments.length > 1;
  const byDefault = deployments.find(({ is_default }) => is_default);
  const asked = deployments.find(({ name }) => name === chosenName) ?? byDefault;
  return (
    <Page
      title="Playground"
      hint={first !== undefined && isSandbox(first) ? sandboxHint : hint}
      actions={
        isChoice && asked !== undefined ? (
          <DeploymentChoice deployments={deployments} asked={asked} onChoose={(name) => choose(() => name)} />
        ) : (
          <ModelNote model={first} isUnknown={models.isError} />
        )
      }
      isFull
    >
      <Playground
        model={isChoice ? (asked?.model ?? undefined) : first?.id}
        deployment={isChoice && asked !== byDefault ? asked?.name : undefined}
      />
    </Page>
  );
}

interface DeploymentChoiceProps {
  deployments: readonly DeploymentStatus[];
  asked: DeploymentStatus;
  onChoose(name: string): void;
}

function DeploymentChoice({ deployments, asked, onChoose }: DeploymentChoiceProps) {
  const id = useId();
  return (
    <div className="flex min-w-0 items-center gap-2 text-sm text-ink-2">
      <label htmlFor={id}>Deployment</label>
      <Select
        id={id}
        className="max-w-64"
        value={asked.name}
        options={deployments.map(({ name, model }) => ({
          value: name,
          label: model === null ? name : `${name}: ${model}`,
        }))}
        onChange={onChoose}
      />
    </div>
  );
}

function ModelNote({ model, isUnknown }: { model: Model | undefined; isUnknown: boolean }) {
  if (isUnknown) return <Badge tone="warn">Model unknown</Badge>;
  if (model === undefined) return null;
  if (isSandbox(model)) {
    return (
      <Badge tone="warn" icon={<FlaskConical aria-hidden />}>
        Sandbox
      </Badge>
    );
  }
  return <Badge icon={<Cpu aria-hidden />}>{model.id}</Badge>;
}
