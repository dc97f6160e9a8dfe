import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi } from "@tanstack/react-router";
import { runQuery } from "../../../data/run-samples.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { Page } from "../../../ui/page.tsx";
import { UnavailablePage } from "../../unavailable-page.tsx";
import { SampleMatrix } from "./sample-matrix.tsx";

export const runSamplesRoute = createLazyRoute("/runs/$runId/samples")({ component: RunSamplesPage });

const route = getRouteApi("/runs/$runId/samples");

/** Until the run's page has a tab for it. */
function RunSamplesPage() {
  const { runId } = route.useParams();
  const run = useQuery(runQuery(usePresage(), runId));
  if (run.data === undefined) return <UnavailablePage title="Run" query={run} actions={null} />;
  return (
    <Page title={run.data.name} isFull>
      <SampleMatrix run={run.data} />
    </Page>
  );
}
