import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { isSimulator } from "../../data/is-simulator.ts";
import { modelsQuery } from "../../data/models.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Page } from "../../ui/page.tsx";
import { ModelNote } from "./model-note.tsx";
import { Playground } from "./playground.tsx";

const hint = "Write a state and an action, see the very prompt, and ask for what comes next.";
const simulatorHint =
  "The built-in simulator answers: rules for a text world, no language model. Set PRESAGE_UPSTREAM_URL to ask a real one.";

export const playgroundRoute = createLazyRoute("/playground")({ component: PlaygroundPage });

function PlaygroundPage() {
  const presage = usePresage();
  const models = useQuery(modelsQuery(presage));
  const model = models.data?.[0];
  return (
    <Page
      title="Playground"
      hint={model !== undefined && isSimulator(model) ? simulatorHint : hint}
      actions={<ModelNote model={model} isUnknown={models.isError} />}
      isFull
    >
      <Playground model={model?.id} />
    </Page>
  );
}
