import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { readPeriodSearch } from "./format/times.ts";
import { readAuditLogSearch } from "./pages/account/audit-log-search.ts";
import { readApiKeysSearch } from "./pages/api-keys/read-key-form.ts";
import { readCompareSearch } from "./pages/compare/compare-search.ts";
import { readDatasetSearch, readDatasetsSearch } from "./pages/datasets/dataset/dataset-search.ts";
import {
  readEnvironmentSearch,
  readPlaySearch,
} from "./pages/environments/environment/environment-search.ts";
import { readTaxonomySearch } from "./pages/error-taxonomies/taxonomy-search.ts";
import { readEvaluatorsSearch, readProfileSearch } from "./pages/evaluators/evaluators-search.ts";
import { readReviewSearch } from "./pages/review/review-search.ts";
import { readNewRunSearch, readRunSearch, readRunsSearch } from "./pages/runs/runs-search.ts";
import { readWorldSearch, readWorldsSearch } from "./pages/worlds/worlds-search.ts";
import { readPredictionsSearch } from "./parts/predictions.ts";
import { readResultsSearch } from "./parts/results/results-search.ts";
import { readEpisodeSearch, readRunStepSearch, readStepSearch } from "./parts/step-search.ts";
import { parseSearch, stringifySearch } from "./search-params.ts";
import { NotFound, PageFailed, PagePending } from "./shell/fallback.tsx";
import { Shell } from "./shell/shell.tsx";
import { readTableSearch } from "./ui/data-table/table-view.ts";
import { loadPage } from "./ui/load.ts";

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const getParentRoute = () => rootRoute;

// Each page's code is loaded on its first visit.
const overview = createRoute({ getParentRoute, path: "/" }).lazy(
  async () => (await loadPage(() => import("./pages/overview/overview-page.tsx"))).overviewRoute,
);
const playground = createRoute({ getParentRoute, path: "/playground" }).lazy(
  async () => (await loadPage(() => import("./pages/playground/playground-page.tsx"))).playgroundRoute,
);
const worlds = createRoute({ getParentRoute, path: "/worlds", validateSearch: readWorldsSearch }).lazy(
  async () => (await loadPage(() => import("./pages/worlds/worlds-page.tsx"))).worldsRoute,
);
const world = createRoute({ getParentRoute, path: "/worlds/$name", validateSearch: readWorldSearch }).lazy(
  async () => (await loadPage(() => import("./pages/worlds/world-page.tsx"))).worldRoute,
);
const predictions = createRoute({
  getParentRoute,
  path: "/predictions",
  validateSearch: readPredictionsSearch,
}).lazy(
  async () => (await loadPage(() => import("./pages/predictions/predictions-page.tsx"))).predictionsRoute,
);
/** Predictions are the first page of the log; search parameters are passed on. */
const log = createRoute({
  getParentRoute,
  path: "/log",
  validateSearch: readPredictionsSearch,
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/predictions", search, replace: true });
  },
});
const deployments = createRoute({ getParentRoute, path: "/deployments" }).lazy(
  async () => (await loadPage(() => import("./pages/deployments/deployments-page.tsx"))).deploymentsRoute,
);
const environments = createRoute({
  getParentRoute,
  path: "/environments",
  validateSearch: readTableSearch,
}).lazy(
  async () =>
    (await loadPage(() => import("./pages/environments/list/environments-page.tsx"))).environmentsRoute,
);
const environment = createRoute({
  getParentRoute,
  path: "/environments/$name",
  validateSearch: readEnvironmentSearch,
}).lazy(
  async () =>
    (await loadPage(() => import("./pages/environments/environment/environment-page.tsx"))).environmentRoute,
);
const play = createRoute({
  getParentRoute,
  path: "/environments/$name/play",
  validateSearch: readPlaySearch,
}).lazy(async () => (await loadPage(() => import("./pages/environments/play/play-page.tsx"))).playRoute);
const episode = createRoute({
  getParentRoute,
  path: "/episodes/$episodeId",
  validateSearch: readEpisodeSearch,
}).lazy(async () => (await loadPage(() => import("./pages/episodes/episode-page.tsx"))).episodeRoute);
const evaluations = createRoute({
  getParentRoute,
  path: "/evaluations",
  validateSearch: readResultsSearch,
}).lazy(
  async () => (await loadPage(() => import("./pages/evaluations/evaluations-page.tsx"))).evaluationsRoute,
);
const evaluators = createRoute({
  getParentRoute,
  path: "/evaluators",
  validateSearch: readEvaluatorsSearch,
}).lazy(async () => (await loadPage(() => import("./pages/evaluators/evaluators-page.tsx"))).evaluatorsRoute);
const profile = createRoute({
  getParentRoute,
  path: "/evaluators/profiles/$publicId",
  validateSearch: readProfileSearch,
}).lazy(
  async () => (await loadPage(() => import("./pages/evaluators/profile/profile-page.tsx"))).profileRoute,
);
const runs = createRoute({ getParentRoute, path: "/runs", validateSearch: readRunsSearch }).lazy(
  async () => (await loadPage(() => import("./pages/runs/list/runs-page.tsx"))).runsRoute,
);
const newRun = createRoute({ getParentRoute, path: "/runs/new", validateSearch: readNewRunSearch }).lazy(
  async () => (await loadPage(() => import("./pages/new-run/new-run-page.tsx"))).newRunRoute,
);
const run = createRoute({ getParentRoute, path: "/runs/$runId", validateSearch: readRunSearch }).lazy(
  async () => (await loadPage(() => import("./pages/runs/run/run-page.tsx"))).runRoute,
);
const compare = createRoute({ getParentRoute, path: "/compare", validateSearch: readCompareSearch }).lazy(
  async () => (await loadPage(() => import("./pages/compare/compare-page.tsx"))).compareRoute,
);
const datasets = createRoute({ getParentRoute, path: "/datasets", validateSearch: readDatasetsSearch }).lazy(
  async () => (await loadPage(() => import("./pages/datasets/datasets-page.tsx"))).datasetsRoute,
);
const dataset = createRoute({
  getParentRoute,
  path: "/datasets/$datasetId",
  validateSearch: readDatasetSearch,
}).lazy(async () => (await loadPage(() => import("./pages/datasets/dataset/dataset-page.tsx"))).datasetRoute);
const datasetTrajectory = createRoute({
  getParentRoute,
  path: "/datasets/$datasetId/trajectories/$trajectoryId",
  validateSearch: readStepSearch,
}).lazy(
  async () =>
    (await loadPage(() => import("./pages/datasets/trajectory/dataset-trajectory-page.tsx")))
      .datasetTrajectoryRoute,
);
const runTrajectory = createRoute({
  getParentRoute,
  path: "/runs/$runId/trajectories/$trajectoryId",
  validateSearch: readRunStepSearch,
}).lazy(
  async () =>
    (await loadPage(() => import("./pages/runs/trajectory/run-trajectory-page.tsx"))).runTrajectoryRoute,
);
const errorTaxonomies = createRoute({ getParentRoute, path: "/error-taxonomies" }).lazy(
  async () =>
    (await loadPage(() => import("./pages/error-taxonomies/error-taxonomies-page.tsx"))).errorTaxonomiesRoute,
);
const errorTaxonomy = createRoute({
  getParentRoute,
  path: "/error-taxonomies/$taxonomyId",
  validateSearch: readTaxonomySearch,
}).lazy(
  async () =>
    (await loadPage(() => import("./pages/error-taxonomies/error-taxonomy-page.tsx"))).errorTaxonomyRoute,
);
const review = createRoute({ getParentRoute, path: "/review", validateSearch: readReviewSearch }).lazy(
  async () => (await loadPage(() => import("./pages/review/review-page.tsx"))).reviewRoute,
);
const usage = createRoute({ getParentRoute, path: "/usage", validateSearch: readPeriodSearch }).lazy(
  async () => (await loadPage(() => import("./pages/usage/usage-page.tsx"))).usageRoute,
);
const apiKeys = createRoute({ getParentRoute, path: "/api-keys", validateSearch: readApiKeysSearch }).lazy(
  async () => (await loadPage(() => import("./pages/api-keys/api-keys-page.tsx"))).apiKeysRoute,
);
const account = createRoute({ getParentRoute, path: "/account" }).lazy(
  async () => (await loadPage(() => import("./pages/account/account-page.tsx"))).accountRoute,
);

const members = createRoute({
  getParentRoute,
  path: "/account/members",
  validateSearch: readTableSearch,
}).lazy(async () => (await loadPage(() => import("./pages/account/members-page.tsx"))).membersRoute);
const auditLog = createRoute({
  getParentRoute,
  path: "/account/audit-log",
  validateSearch: readAuditLogSearch,
}).lazy(async () => (await loadPage(() => import("./pages/account/audit-log-page.tsx"))).auditLogRoute);

const routeTree = rootRoute.addChildren([
  overview,
  playground,
  worlds,
  world,
  predictions,
  log,
  deployments,
  environments,
  environment,
  play,
  episode,
  runs,
  newRun,
  run,
  compare,
  evaluations,
  evaluators,
  profile,
  datasets,
  dataset,
  datasetTrajectory,
  runTrajectory,
  errorTaxonomies,
  errorTaxonomy,
  review,
  usage,
  apiKeys,
  account,
  members,
  auditLog,
]);

export function createAppRouter() {
  const [visit] = performance.getEntriesByType("navigation");
  // A new page is at its top already. To scroll there would lay it out while most of it is missing.
  let isAtTop = visit !== undefined && "type" in visit && visit.type === "navigate";
  return createRouter({
    routeTree,
    parseSearch,
    stringifySearch,
    // Otherwise pages would receive parameters that their `validateSearch` drops.
    search: { strict: true },
    defaultPreload: "intent",
    defaultPendingComponent: PagePending,
    defaultErrorComponent: PageFailed,
    scrollRestoration() {
      const isNeeded = !isAtTop;
      isAtTop = false;
      return isNeeded;
    },
    scrollToTopSelectors: ["#main"],
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
