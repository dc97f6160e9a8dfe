import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { meQuery } from "../../data/me.ts";
import { modelsQuery } from "../../data/models.ts";
import { usePresage } from "../../data/use-presage.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { isSimulator } from "./is-simulator.ts";
import { ModelNote } from "./model-note.tsx";
import { Playground } from "./playground.tsx";

const hint = "Write a state and an action, see the very prompt, and ask for what comes next.";
const simulatorHint =
  "The built-in simulator answers: rules for a text world, no language model. Set PRESAGE_UPSTREAM_URL to ask a real one.";

export const playgroundRoute = createLazyRoute("/playground")({ component: PlaygroundPage });

function PlaygroundPage() {
  const presage = usePresage();
  // Drafts belong to a user: another one who signs in with this tab must not see them.
  const { data: me, error, refetch } = useQuery(meQuery(presage));
  const models = useQuery(modelsQuery(presage));
  const model = models.data?.[0];
  return (
    <Page
      title="Playground"
      hint={model !== undefined && isSimulator(model) ? simulatorHint : hint}
      actions={<ModelNote model={model} isUnknown={models.isError} />}
      isFull
    >
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {me === undefined && error === null && <Skeleton className="min-h-96 flex-1" />}
      {me !== undefined && <Playground key={me.id} userId={me.id} model={model?.id} />}
    </Page>
  );
}
