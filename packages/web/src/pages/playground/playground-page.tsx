import type { Model } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { Cpu, FlaskConical } from "lucide-react";
import { isSandbox, modelsQuery } from "../../data/models.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Badge } from "../../ui/badge.tsx";
import { Page } from "../../ui/page.tsx";
import { Playground } from "./playground.tsx";

const hint = "Write a state and an action, see the exact prompt, and predict what comes next.";
const sandboxHint =
  "Predictions come from the built-in sandbox, a rule-based simulator, not from a language model. Set PRESAGE_UPSTREAM_URL to use one.";

export const playgroundRoute = createLazyRoute("/playground")({ component: PlaygroundPage });

function PlaygroundPage() {
  const presage = usePresage();
  const models = useQuery(modelsQuery(presage));
  const model = models.data?.[0];
  return (
    <Page
      title="Playground"
      hint={model !== undefined && isSandbox(model) ? sandboxHint : hint}
      actions={<ModelNote model={model} isUnknown={models.isError} />}
      isFull
    >
      <Playground model={model?.id} />
    </Page>
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
