import { apiKeyRoutes } from "../accounts/api-keys-route.ts";
import { auditEventRoutes } from "../accounts/audit-log.ts";
import { meRoutes } from "../accounts/me-route.ts";
import { sessionRoutes } from "../accounts/sessions.ts";
import { datasetRoutes } from "../datasets/datasets-route.ts";
import { datasetUploadRoutes, importRoutes } from "../datasets/upload/upload-route.ts";
import { environmentRoutes } from "../environments/environments-route.ts";
import { episodeRoutes } from "../environments/episodes/episodes-route.ts";
import { openEnvRoutes } from "../environments/openenv/openenv-route.ts";
import { orsCallRoutes } from "../environments/ors/ors-calls.ts";
import { orsCatalogRoutes, orsSessionRoutes } from "../environments/ors/ors-route.ts";
import { evaluatorRoutes } from "../evaluators/evaluators-route.ts";
import { evaluatorProfileRoutes } from "../evaluators/profiles/profiles-route.ts";
import { errorTaxonomyRoutes } from "../evaluators/taxonomies/taxonomies-route.ts";
import {
  exportDatasetRoute,
  exportEpisodesRoute,
  exportPredictionsRoute,
  exportRunRoute,
} from "../exports/exports-route.ts";
import type { Operation, TaggedOperation } from "../http/route.ts";
import { modelRoutes } from "../predictions/models-route.ts";
import { chatRoute, predictRoute } from "../predictions/predictions-route.ts";
import { storedPredictionRoutes } from "../predictions/stored-predictions-route.ts";
import { realEnvironmentRoutes, realityRoutes } from "../reality/checks-route.ts";
import { agreementRoutes } from "../results/agreement.ts";
import { resultDeletionRoutes } from "../results/delete/deletions-route.ts";
import { errorFindingRoutes } from "../results/error-findings.ts";
import { evaluateRoutes } from "../results/evaluate-route.ts";
import { resultImportRoutes } from "../results/imports.ts";
import { labelRoutes } from "../results/labels/labels.ts";
import { projectRoutes } from "../results/projects.ts";
import { evaluationResultRoutes } from "../results/results-route.ts";
import { reviewRoutes } from "../results/review.ts";
import { listOfApps, resultSearchRoutes } from "../results/search/search-route.ts";
import { summaryRoutes } from "../results/summary/summary-route.ts";
import { comparisonRoutes } from "../runs/compare/compare-route.ts";
import { experimentRoutes } from "../runs/experiments-route.ts";
import { goalRoutes } from "../runs/goals.ts";
import { headlineRoutes } from "../runs/headlines/headlines-route.ts";
import { runLabelRoutes } from "../runs/labels/labels-route.ts";
import {
  getCalibration,
  getWorldCalibration,
  worldCalibrationRoutes,
} from "../runs/report/calibration-route.ts";
import { worldCoverageRoutes } from "../runs/report/coverage-route.ts";
import { runReportRoutes } from "../runs/report/report-route.ts";
import { runEventRoutes } from "../runs/run-events.ts";
import { runSampleRoutes } from "../runs/run-samples.ts";
import { runRoutes } from "../runs/runs-route.ts";
import { shareRoutes } from "../shares/shares-route.ts";
import { budgetRoutes } from "../usage/budgets.ts";
import { peopleRoutes } from "../usage/people-route.ts";
import { usageRoutes } from "../usage/usage-route.ts";
import { worldRoutes } from "../worlds/worlds-route.ts";
import type { Services } from "./services.ts";

/** All operations of the API: those that are served are those of `/openapi.json`. */
export function operationsOf(
  chatCompatibility: Services["settings"]["chatCompatibility"],
): readonly TaggedOperation<Services>[] {
  const all = { ...operations, prediction: [...operations.prediction, chatRoute(chatCompatibility)] };
  return Object.entries(all).flatMap(([tag, tagged]) => tagged.map((operation) => ({ ...operation, tag })));
}

/** By their sections of the document. */
const operations = {
  prediction: [predictRoute, ...modelRoutes],
  "stored predictions": [...storedPredictionRoutes, exportPredictionsRoute],
  dashboard: [
    ...meRoutes,
    ...apiKeyRoutes,
    ...sessionRoutes,
    ...auditEventRoutes,
    ...usageRoutes,
    ...peopleRoutes,
    ...budgetRoutes,
  ],
  datasets: [...datasetRoutes, ...datasetUploadRoutes, ...importRoutes, exportDatasetRoute],
  worlds: [...worldRoutes, ...worldCalibrationRoutes, getWorldCalibration, ...worldCoverageRoutes],
  environments: [
    ...environmentRoutes,
    ...episodeRoutes,
    ...orsCatalogRoutes,
    ...orsSessionRoutes,
    ...orsCallRoutes,
  ],
  episodes: [exportEpisodesRoute],
  OpenEnv: openEnvRoutes,
  reality: [...realityRoutes, ...realEnvironmentRoutes],
  evaluators: [...evaluatorRoutes, listOfApps],
  "evaluator profiles": [...evaluatorProfileRoutes, ...agreementRoutes],
  "error taxonomies": [...errorTaxonomyRoutes, ...errorFindingRoutes],
  evaluation: evaluateRoutes,
  "evaluation results": [
    ...evaluationResultRoutes,
    ...resultSearchRoutes,
    ...summaryRoutes,
    ...reviewRoutes,
    ...resultImportRoutes,
    ...resultDeletionRoutes,
  ],
  labels: [...labelRoutes, ...runLabelRoutes],
  experiments: [...projectRoutes, ...experimentRoutes],
  runs: [
    ...runRoutes,
    ...comparisonRoutes,
    ...headlineRoutes,
    ...goalRoutes,
    ...runReportRoutes,
    ...runSampleRoutes,
    getCalibration,
    exportRunRoute,
    ...runEventRoutes,
    ...shareRoutes,
  ],
} satisfies Record<string, readonly Operation<Services>[]>;
