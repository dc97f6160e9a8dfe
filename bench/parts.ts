import { cachePart } from "./cache/cache-part.ts";
import { dashboardPart } from "./dashboard/dashboard-part.ts";
import { episodesPart } from "./episodes/episodes-part.ts";
import { evaluationsPart } from "./evaluations/evaluations-part.ts";
import { processesPart } from "./evaluations/processes/processes-part.ts";
import { searchPart } from "./evaluations/search/search-part.ts";
import type { Part } from "./part.ts";
import { predictionsPart } from "./predictions/predictions-part.ts";
import { replicasPart } from "./replicas/replicas-part.ts";
import { retentionPart } from "./retention/retention-part.ts";
import { runsPart } from "./runs/runs-part.ts";
import { statisticsPart } from "./statistics/statistics-part.ts";
import { workersPart } from "./workers/workers-part.ts";

/** In the order of RESULTS.md. */
export const parts = {
  predictions: predictionsPart,
  workers: workersPart,
  cache: cachePart,
  replicas: replicasPart,
  evaluations: evaluationsPart,
  processes: processesPart,
  search: searchPart,
  runs: runsPart,
  episodes: episodesPart,
  retention: retentionPart,
  dashboard: dashboardPart,
  statistics: statisticsPart,
} satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof parts;

export const partNames = Object.keys(parts) as PartName[];
