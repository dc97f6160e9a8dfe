import type { Route } from "./pipeline/route.ts";
import { type RequestCounter, type ServePath, servePath } from "./pipeline/serve-path.ts";
import { apiKeyRoutes } from "./resources/api-keys/api-keys.ts";
import { appRoutes } from "./resources/apps/apps.ts";
import { auditEventRoutes } from "./resources/audit/audit-events.ts";
import { comparisonRoutes } from "./resources/comparisons/comparisons.ts";
import { dashboardRoutes } from "./resources/dashboard/dashboard.ts";
import { datasetRoutes } from "./resources/datasets/datasets.ts";
import { deploymentRoutes } from "./resources/deployments/deployments.ts";
import { docsRoutes } from "./resources/docs/docs.ts";
import { environmentRoutes } from "./resources/environments/environments.ts";
import { episodeRoutes } from "./resources/episodes/episodes.ts";
import { evaluateRoutes } from "./resources/evaluate/evaluate.ts";
import { evaluatorRoutes } from "./resources/evaluators/evaluators.ts";
import { experimentRoutes } from "./resources/experiments/experiments.ts";
import { keptPredictionRoutes } from "./resources/kept-predictions/kept-predictions.ts";
import { meRoutes } from "./resources/me/me.ts";
import { whoAmIRoutes } from "./resources/me/whoami.ts";
import { memberRoutes } from "./resources/members/members.ts";
import { metricsRoutes } from "./resources/metrics/metrics.ts";
import { modelRoutes } from "./resources/models/models.ts";
import { openEnvRoutes } from "./resources/openenv/openenv.ts";
import { orsCallRoutes } from "./resources/ors/ors-calls.ts";
import { orsCatalogRoutes } from "./resources/ors/ors-catalog.ts";
import { orsSessionRoutes } from "./resources/ors/ors-sessions.ts";
import { predictionRoutes } from "./resources/predictions/predictions.ts";
import { probeRoutes } from "./resources/probes/probes.ts";
import { evaluatorProfileRoutes } from "./resources/profiles/evaluator-profiles.ts";
import { projectRoutes } from "./resources/projects/projects.ts";
import { evaluationResultRoutes } from "./resources/results/evaluation-results.ts";
import { resultDeletionRoutes } from "./resources/results/result-deletions.ts";
import { resultImportRoutes } from "./resources/results/result-imports.ts";
import { resultSearchRoutes } from "./resources/results/result-searches.ts";
import { runReportRoutes } from "./resources/runs/report-routes.ts";
import { runRoutes } from "./resources/runs/runs.ts";
import { sessionRoutes } from "./resources/sessions/sessions.ts";
import { signInRoutes } from "./resources/sign-in/sign-in.ts";
import { errorTaxonomyRoutes } from "./resources/taxonomies/error-taxonomies.ts";
import { usageRoutes } from "./resources/usage/usage.ts";
import type { Services } from "./services.ts";
import type { OpenSockets } from "./sockets/open-sockets.ts";

/** What `Bun.serve` is given: a handler for each path, and `fetch` for all other paths. */
export interface App {
  routes: Record<string, ServePath>;
  fetch: ServePath;
  /** When the last request arrived, on the clock of `performance.now()`. */
  lastRequestAtMs(): number;
  /** The number of requests that are not recorded yet. */
  inFlight(): number;
  /** Its WebSockets, to be stopped with the server. */
  sockets: Pick<OpenSockets, "stop" | "abort">;
}

/** All routes of the server. */
export function createApp(services: Services): App {
  const routes: Route[] = [
    ...probeRoutes(services),
    ...metricsRoutes(services),
    ...docsRoutes(services),
    ...dashboardRoutes(services),
    ...predictionRoutes(services),
    ...keptPredictionRoutes(services),
    ...modelRoutes(services),
    ...deploymentRoutes(services),
    ...signInRoutes(services),
    ...sessionRoutes(services),
    ...meRoutes(services),
    ...whoAmIRoutes(services),
    ...apiKeyRoutes(services),
    ...memberRoutes(services),
    ...auditEventRoutes(services),
    ...errorTaxonomyRoutes(services),
    ...evaluateRoutes(services),
    ...evaluationResultRoutes(services),
    ...resultSearchRoutes(services),
    ...resultDeletionRoutes(services),
    ...resultImportRoutes(services),
    ...projectRoutes(services),
    ...experimentRoutes(services),
    ...datasetRoutes(services),
    ...runReportRoutes(services),
    ...comparisonRoutes(services),
    ...runRoutes(services),
    ...environmentRoutes(services),
    ...episodeRoutes(services),
    ...openEnvRoutes(services),
    ...orsCatalogRoutes(services),
    ...orsSessionRoutes(services),
    ...orsCallRoutes(services),
    ...evaluatorRoutes(services),
    ...evaluatorProfileRoutes(services),
    ...usageRoutes(services),
    ...appRoutes(services),
  ];
  let lastRequestAtMs = 0;
  let inFlight = 0;
  const counter: RequestCounter = {
    begin(atMs) {
      lastRequestAtMs = atMs;
      inFlight += 1;
    },
    end() {
      inFlight -= 1;
    },
  };
  const byPath = Object.entries(Object.groupBy(routes, ({ path }) => path));
  return {
    routes: Object.fromEntries(
      byPath.map(([path, ofPath = []]) => [path, servePath(ofPath, services, counter)]),
    ),
    fetch: servePath([], services, counter),
    lastRequestAtMs: () => lastRequestAtMs,
    inFlight: () => inFlight,
    sockets: services.sockets,
  };
}
