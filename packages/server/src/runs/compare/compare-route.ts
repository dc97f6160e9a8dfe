import {
  type ComparedSample,
  ComparedSampleListQuery,
  ComparedSampleListResponse,
  Comparison,
  ComparisonQuery,
  defaultPageLimit,
} from "@presage/contract";
import { errorResponse, page, response } from "../../http/describe.ts";
import { reserveResponse } from "../../http/memory.ts";
import { reply, route } from "../../http/route.ts";
import { conflict, ServiceError } from "../../platform/errors.ts";
import { type Holder, reserveBytes } from "../../platform/limits/memory.ts";
import { selectNames } from "../../platform/storage/rows.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { clientMemoryBytes } from "../client/client-counts.ts";
import examples from "../examples.json" with { type: "json" };
import { toHtml, toMarkdown } from "../report/pages.ts";
import { documentContent, documentResponse, preferredFormat } from "../report/report-route.ts";
import { isClientRun, isSameEvaluator, type Run, type RunEvaluator, toRun } from "../run.ts";
import { type FindNeeds, findRun, refuseDeleted } from "../runs.ts";
import { compareRuns, comparisonMemoryBytes } from "./compare-runs.ts";
import {
  type ComparedSampleCursor,
  type ComparedSampleRow,
  type ComparedVerdicts,
  selectComparedSamples,
} from "./compared-samples-store.ts";
import { comparisonDocument, comparisonTitle } from "./comparison-document.ts";

const { finishedRun } = examples;
export const exampleComparison = {
  ...examples.comparison,
  runs: [
    { ...finishedRun, left_out: 0 },
    { ...finishedRun, ...examples.otherRun, left_out: 0 },
  ],
};

const usualComparisonBytes = 2_000_000;

const compareOwnRuns = route("GET", "/v1/comparisons", {
  needs: "read",
  id: "compareRuns",
  summary: "Compare runs",
  description:
    "Compares runs with the first one, by each evaluator that both have, on the samples that all have a verdict for: paired differences with intervals and tests that take trajectories as independent, and what data like these could have shown. As JSON, as one HTML page without scripts, or as Markdown. Runs on different revisions are compared on equal samples. Where the target of one of them is external, samples are equal if they have the same dataset_id and dataset_sample_id.",
  query: ComparisonQuery,
  responses: {
    "200": {
      description: "The comparison",
      content: {
        "application/json": { schema: Comparison, example: exampleComparison },
        ...documentContent("# sandbox, warmer against sandbox, teacher-forced"),
      },
    },
    "404": errorResponse("The account does not have all of these runs", "There is no such run."),
  },
  async handle(services: FindNeeds, { call, requester, query }) {
    const { comparison } = await makeComparison(services, call.exchange, requester, query.runs);
    const format = query.format ?? preferredFormat(call.request.headers);
    if (format === "json") return reply(200, comparison, { vary: "accept" });
    return documentResponse(
      "comparison",
      format,
      await writeComparison(services, requester, comparison, format),
    );
  },
});

const listDifferingSamples = route("GET", "/v1/comparisons/samples", {
  needs: "read",
  id: "listComparedSamples",
  summary: "List the samples that differ",
  description:
    "Returns the samples that an evaluator scores lower or higher in the second run than in the first, largest difference first.",
  query: ComparedSampleListQuery,
  responses: {
    "200": response("A page of samples", ComparedSampleListResponse, page(examples.comparedSample)),
    "404": errorResponse(
      "The account does not have both runs, or they have no such evaluator in common",
      "The runs do not both have this evaluator with the same revision of the same profile.",
    ),
    "409": errorResponse(
      "The target of one of the runs is external",
      "A run's target is external: its samples are found by its results, with the search.",
    ),
  },
  async handle(services: FindNeeds, { requester, query }) {
    const [reference, candidate = reference] = await findRuns(services, requester, query.runs);
    const { evaluator, profile_name: profileName, direction } = query;
    const [distance, position] = query.after?.split(".").map(Number) ?? [];
    const { samples, next } = await listComparedSamples(
      services,
      requester,
      { reference, candidate, evaluator, profileName, direction },
      {
        limit: Number(query.limit ?? defaultPageLimit),
        after: distance === undefined || position === undefined ? undefined : { distance, position },
      },
    );
    return reply(200, {
      data: samples.map(toComparedSample),
      next: next === undefined ? null : `${next.distance}.${next.position}`,
    });
  },
});

export const comparisonRoutes = [compareOwnRuns, listDifferingSamples];

/** A comparison for people, as a page or as Markdown. */
async function writeComparison(
  { store }: { store: Store },
  requester: Requester,
  comparison: Comparison,
  format: "html" | "md",
): Promise<string> {
  const { runs } = comparison;
  const datasetIds = runs.map(({ dataset_id }) => dataset_id);
  const names = await selectNames(store.briefReader(requester), requester.accountId, datasetIds);
  const document = comparisonDocument(comparison, names);
  return format === "md" ? toMarkdown(document) : toHtml(comparisonTitle(runs), document);
}

/** Runs, given by ids separated by commas, with their differences, within the memory of a request. */
export async function makeComparison(
  services: FindNeeds,
  exchange: Holder,
  requester: Requester,
  ids: string,
): Promise<{ runs: [Run, ...Run[]]; comparison: Comparison }> {
  const runs = await findRuns(services, requester, ids);
  const ofClients = await clientMemoryBytes(services, requester, runs);
  reserveBytes(exchange, comparisonMemoryBytes(runs) + ofClients);
  const { leftOut, ...differences } = await compareRuns(services, requester, runs);
  // The client may read slowly.
  reserveResponse(exchange, usualComparisonBytes);
  const compared = runs.map((run, index) => ({ ...toRun(run), left_out: leftOut[index] ?? 0 }));
  return { runs, comparison: { runs: compared, ...differences } };
}

async function findRuns(services: FindNeeds, requester: Requester, ids: string): Promise<[Run, ...Run[]]> {
  const [first = "", ...others] = ids.split(",");
  const runs: [Run, ...Run[]] = [await findRun(services, requester, first)];
  for (const id of others) runs.push(await findRun(services, requester, id));
  return runs;
}

function toComparedSample(row: ComparedSampleRow): ComparedSample {
  return {
    dataset_sample_id: row.sample_id,
    trajectory_id: row.trajectory_id,
    step: row.step,
    difference:
      row.candidate_score === null || row.reference_score === null
        ? row.candidate_pass_rate - row.reference_pass_rate
        : row.candidate_score - row.reference_score,
    reference: {
      position: row.reference_position,
      score: row.reference_score,
      pass_rate: row.reference_pass_rate,
      evaluation_result_id: toResultId(row.reference_result_id),
    },
    candidate: {
      position: row.candidate_position,
      score: row.candidate_score,
      pass_rate: row.candidate_pass_rate,
      evaluation_result_id: toResultId(row.candidate_result_id),
    },
  };
}

function toResultId(id: number | null): string | null {
  return id === null ? null : String(id);
}

interface WantedSamples {
  reference: Run;
  candidate: Run;
  /** The evaluator's id or its family's name. */
  evaluator: string;
  profileName: string | undefined;
  direction: "worse" | "better";
}

/** One page of the samples that got worse or better, the most different first. */
export async function listComparedSamples(
  { store }: { store: Store },
  requester: Requester,
  { reference, candidate, direction, profileName, ...wanted }: WantedSamples,
  { limit, after }: { limit: number; after: ComparedSampleCursor | undefined },
): Promise<{ samples: ComparedSampleRow[]; next: ComparedSampleCursor | undefined }> {
  if (isClientRun(reference) || isClientRun(candidate))
    throw conflict("A run's target is external: its samples are found by its results, with the search.");
  const evaluator = reference.evaluators.find(
    (one) =>
      (one.id === wanted.evaluator || one.family === wanted.evaluator) &&
      (profileName === undefined || one.profile.name === profileName) &&
      candidate.evaluators.some((other) => isSameEvaluator(one, other)),
  );
  if (evaluator === undefined) throw noCommonEvaluator();
  const verdicts = {
    reference: verdictsOf(reference, evaluator),
    candidate: verdictsOf(candidate, evaluator),
  };
  const rows = await selectComparedSamples(store.reader(requester), verdicts, direction, {
    limit: limit + 1,
    after,
  });
  await refuseDeleted({ store }, requester, [reference, candidate]);
  const samples = rows.slice(0, limit);
  const last = rows.length > limit ? samples.at(-1) : undefined;
  return { samples, next: last && { distance: last.distance, position: last.reference_position } };
}

function verdictsOf(run: Run, evaluator: RunEvaluator): ComparedVerdicts {
  return {
    runId: run.id,
    revisionId: run.dataset?.revisionId ?? 0,
    evaluator: run.evaluators.findIndex((one) => isSameEvaluator(one, evaluator)),
  };
}

function noCommonEvaluator(): ServiceError {
  return new ServiceError(
    "not_found",
    "The runs do not both have this evaluator with the same revision of the same profile.",
  );
}
