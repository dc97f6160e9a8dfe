import { apiKeyRoutes } from "../accounts/api-keys-route.ts";
import { auditEventRoutes } from "../accounts/audit-log-route.ts";
import { sessionRoutes } from "../accounts/sessions.ts";
import { userRoutes } from "../accounts/users.ts";
import { datasetRoutes } from "../datasets/datasets-route.ts";
import { datasetUploadRoutes, importRoutes } from "../datasets/upload/upload-route.ts";
import { environmentRoutes } from "../environments/environments-route.ts";
import { episodeRoutes } from "../environments/episodes/episodes-route.ts";
import { openEnvDescription, openEnvRoutes } from "../environments/openenv/openenv-route.ts";
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
import { pathsOf } from "../http/describe.ts";
import type { Operation, TaggedOperation } from "../http/route.ts";
import { modelRoutes } from "../predictions/models-route.ts";
import { chatRoute, predictRoute } from "../predictions/predictions-route.ts";
import { storedPredictionRoutes } from "../predictions/stored-predictions-route.ts";
import { realEnvironmentRoutes, realityRoutes } from "../reality/checks-route.ts";
import { agreementRoutes } from "../results/agreement.ts";
import { resultDeletionRoutes } from "../results/delete/deletions-route.ts";
import { errorFindingRoutes } from "../results/error-findings-route.ts";
import { evaluateRoutes } from "../results/evaluate-route.ts";
import { resultImportRoutes } from "../results/imports-route.ts";
import { labelRoutes } from "../results/labels/labels.ts";
import { projectRoutes } from "../results/projects-route.ts";
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
import { probePaths } from "./probes.ts";
import type { Services, Settings } from "./services.ts";

/** All operations of the API: those that are served are those of `/openapi.json`. */
export function operationsOf(
  chatCompatibility: Settings["chatCompatibility"],
): readonly TaggedOperation<Services>[] {
  const all = { ...operations, prediction: [...operations.prediction, chatRoute(chatCompatibility)] };
  return Object.entries(all).flatMap(([tag, tagged]) => tagged.map((operation) => ({ ...operation, tag })));
}

/** The API's version, not the program's. */
const apiVersion = "0.1.0";

/** The API as OpenAPI 3.1, made from the schemas that validate requests. */
export async function openApiDocument(chatCompatibility: Settings["chatCompatibility"] = "strict") {
  // Loaded on demand: most processes never serve the document.
  const { createDocument } = await import("zod-openapi");
  return createDocument({
    openapi: "3.1.1",
    info: {
      title: "Presage",
      version: apiVersion,
      description:
        "Uses a language model to predict an environment's next state from a state and an action. Scores model outputs with rules and with a model as judge.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }, { bearer: [] }, { session: [] }],
    tags: Object.entries(sections).map(([name, description]) => ({ name, description })),
    paths: {
      ...pathsOf(operationsOf(chatCompatibility)),
      ...probePaths,
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-KEY",
          description: "A key, as `POST /v1/api-keys` returns it.",
        },
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "The same key, where OpenAI's clients send it.",
        },
        basic: {
          type: "http",
          scheme: "basic",
          description: "The same key as the password, with any user name. For clients of OpenEnv only.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "presage_session",
          description:
            "The session of a signed-in browser. The actual cookie name ends in an underscore and 8 characters specific to the server, and on https it begins with __Host-. Requests that change something also need the header X-CSRF-Token.",
        },
      },
    },
  });
}

/** The operations by their sections of the document. */
const operations = {
  prediction: [predictRoute, ...modelRoutes],
  "stored predictions": [...storedPredictionRoutes, exportPredictionsRoute],
  dashboard: [
    ...userRoutes,
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
    exportEpisodesRoute,
  ],
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

/** The description of each section, in the order in which they are shown. */
const sections: Record<keyof typeof operations | "probes", string> = {
  prediction: "Predict next states with the world model.",
  "stored predictions": "Predictions that were stored, with what was asked.",
  dashboard: "Users, API keys, sessions, usage, budgets and the audit log of an account.",
  "error taxonomies": "Trees of model errors, in labelled revisions.",
  evaluation: "Score model outputs.",
  "evaluation results": "Search, count, correct, import and export results.",
  labels: "What people say of verdicts, and how far evaluators agree with them.",
  evaluators: "The available evaluators, and the apps that have results.",
  "evaluator profiles": "Configurations of evaluators, in revisions.",
  experiments: "Groups of results, in projects.",
  datasets: "Recorded transitions of environments, in immutable revisions.",
  runs: "Predictions for the samples of a dataset, with their verdicts.",
  worlds: "Instructions, recorded examples and a model that predict together, in revisions.",
  environments: "Simulated environments for agents to act in.",
  OpenEnv: openEnvDescription,
  reality: "How often success in an environment is success in the real one.",
  probes: "For load balancers, monitors and people.",
};
