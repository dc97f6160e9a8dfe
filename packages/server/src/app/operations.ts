import { apiKeyRoutes } from "../accounts/api-keys-route.ts";
import { auditEventRoutes } from "../accounts/audit-log.ts";
import { meRoutes } from "../accounts/me-route.ts";
import { sessionRoutes } from "../accounts/sessions-route.ts";
import { datasetRoutes } from "../datasets/datasets-route.ts";
import { importRoutes } from "../datasets/traces/imports-route.ts";
import { datasetUploadRoutes } from "../datasets/upload/upload-route.ts";
import { environmentRoutes } from "../environments/environments-route.ts";
import { episodeRoutes } from "../environments/episodes/episodes-route.ts";
import { openEnvRoutes } from "../environments/openenv/openenv-route.ts";
import { orsCallRoutes } from "../environments/ors/ors-calls.ts";
import { orsCatalogRoutes, orsSessionRoutes } from "../environments/ors/ors-route.ts";
import { evaluatorRoutes } from "../evaluators/evaluators-route.ts";
import { evaluatorProfileRoutes } from "../evaluators/profiles/profiles-route.ts";
import { errorTaxonomyRoutes } from "../evaluators/taxonomies/taxonomies-route.ts";
import { exportRoutes } from "../exports/exports-route.ts";
import type { Operation } from "../http/route.ts";
import { modelRoutes } from "../predictions/models-route.ts";
import { chatRoute, predictRoute } from "../predictions/predictions-route.ts";
import { storedPredictionRoutes } from "../predictions/stored-predictions-route.ts";
import { realityRoutes } from "../reality/checks-route.ts";
import { realEnvironmentRoutes } from "../reality/real/real-environments-route.ts";
import { agreementRoutes } from "../results/agreement.ts";
import { resultDeletionRoutes } from "../results/delete/deletions-route.ts";
import { errorFindingRoutes } from "../results/error-findings.ts";
import { evaluateRoutes } from "../results/evaluate-route.ts";
import { resultImportRoutes } from "../results/imports.ts";
import { labelRoutes } from "../results/labels/labels-route.ts";
import { projectRoutes } from "../results/projects.ts";
import { evaluationResultRoutes } from "../results/results-route.ts";
import { reviewRoutes } from "../results/review.ts";
import { resultSearchRoutes } from "../results/search/search-route.ts";
import { summaryRoutes } from "../results/summary/summary-route.ts";
import { worldCalibrationRoutes } from "../runs/calibrate-world.ts";
import { comparisonRoutes } from "../runs/compare/compare-route.ts";
import { experimentRoutes } from "../runs/experiments-route.ts";
import { goalRoutes } from "../runs/goals-route.ts";
import { headlineRoutes } from "../runs/headlines/headlines-route.ts";
import { runLabelRoutes } from "../runs/labels/labels-route.ts";
import { runCalibrationRoutes } from "../runs/report/calibration-route.ts";
import { worldCoverageRoutes } from "../runs/report/coverage-route.ts";
import { runReportRoutes } from "../runs/report/report-route.ts";
import { runEventRoutes } from "../runs/run-events.ts";
import { runRoutes } from "../runs/runs-route.ts";
import { runSampleRoutes } from "../runs/samples-route.ts";
import { shareRoutes } from "../shares/shares-route.ts";
import { budgetRoutes } from "../usage/budgets.ts";
import { peopleRoutes } from "../usage/people-route.ts";
import { usageRoutes } from "../usage/usage-route.ts";
import { worldRoutes } from "../worlds/worlds-route.ts";
import type { Services } from "./services.ts";

const operations: readonly Operation<Services>[] = [
  predictRoute,
  ...storedPredictionRoutes,
  ...modelRoutes,
  ...meRoutes,
  ...apiKeyRoutes,
  ...sessionRoutes,
  ...auditEventRoutes,
  ...usageRoutes,
  ...peopleRoutes,
  ...budgetRoutes,
  ...datasetRoutes,
  ...datasetUploadRoutes,
  ...importRoutes,
  ...exportRoutes,
  ...worldRoutes,
  ...worldCalibrationRoutes,
  ...environmentRoutes,
  ...episodeRoutes,
  ...openEnvRoutes,
  ...realityRoutes,
  ...realEnvironmentRoutes,
  ...orsCatalogRoutes,
  ...orsSessionRoutes,
  ...orsCallRoutes,
  ...evaluatorRoutes,
  ...evaluatorProfileRoutes,
  ...errorTaxonomyRoutes,
  ...evaluateRoutes,
  ...evaluationResultRoutes,
  ...resultSearchRoutes,
  ...summaryRoutes,
  ...reviewRoutes,
  ...resultImportRoutes,
  ...resultDeletionRoutes,
  ...agreementRoutes,
  ...labelRoutes,
  ...errorFindingRoutes,
  ...projectRoutes,
  ...experimentRoutes,
  ...shareRoutes,
  ...goalRoutes,
  ...headlineRoutes,
  ...runReportRoutes,
  ...runCalibrationRoutes,
  ...worldCoverageRoutes,
  ...runLabelRoutes,
  ...comparisonRoutes,
  ...runRoutes,
  ...runEventRoutes,
  ...runSampleRoutes,
];

/** All operations of the API: those that are served are those of `/openapi.json`. */
export function operationsOf(
  chatCompatibility: Services["settings"]["chatCompatibility"],
): readonly Operation<Services>[] {
  return [...operations, chatRoute(chatCompatibility)];
}
