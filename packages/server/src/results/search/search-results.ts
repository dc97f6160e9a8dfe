import {
  type EvaluationResultExportQuery,
  EvaluationResultFilter,
  type EvaluationResultSearchRequest,
  isTrueWord,
  readInstant,
  readResultId,
  type ValidationError,
} from "@presage/contract";
import { readEvaluatorName, readProfileName } from "../../evaluators/old-names.ts";
import type { Registry } from "../../evaluators/registry.ts";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import { type Pieces, readInPieces, refuseLargePage } from "../../platform/storage/lists.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import type { StoredResult } from "../result.ts";
import { hasResultsOf } from "../summary/summary-store.ts";
import { selectIdsAtTimes, selectLastSettled } from "../write/results-store.ts";
import { selectPayloadBytes, selectResults } from "../write/stored-results-store.ts";
import type { ColumnOrder, ResultFilter, SearchFilter, SearchPage, TimeOrder } from "./filter.ts";
import { selectResultIds } from "./search-store.ts";
import { GonePlaceError, selectIdsByColumn } from "./values-store.ts";

/** What reading a filter needs: an alias stands for the newest evaluator. */
export interface FilterServices {
  store: Store;
  registry: Registry;
}

/** The results that a request selects. Null is treated as omitted. */
export async function readResultFilter(
  services: FilterServices,
  requester: Requester,
  fields: EvaluationResultFilter,
): Promise<ResultFilter> {
  const { name, isExternal } = readEvaluatorName(fields.evaluator_id ?? undefined);
  return {
    app: given(fields.app),
    projectId: given(fields.project_id),
    experimentId: given(fields.experiment_id),
    evaluatorId: name && !isExternal ? await resolveEvaluatorId(services, requester, name) : name,
    isExternal,
    status: given(fields.status),
    evaluatorFamily: given(fields.evaluator_family),
    profileName: given(readProfileName(fields)),
    profilePublicId: given(fields.evaluator_profile_public_id)?.toLowerCase(),
    profileRevision: given(fields.evaluator_profile_revision),
    datasetId: given(fields.dataset_id),
    datasetSampleId: given(fields.dataset_sample_id),
    runId: given(fields.evaluation_run_id),
    explainStrategy: given(fields.explain_strategy),
    isExplained: given(fields.explain),
    hasRun: given(fields.has_run),
    tags: given(fields.tags),
    pass: given(fields.pass),
    minScore: given(fields.score_raw_min),
    maxScore: given(fields.score_raw_max),
    createdAfter: instantOf(fields.after_datetime),
    createdBefore: instantOf(fields.before_datetime),
    afterId: idOf(fields.after_id),
    beforeId: idOf(fields.before_id),
  } satisfies { [Name in keyof Required<ResultFilter>]: ResultFilter[Name] };
}

/** The results that a search selects: successes, unless it names a status. */
export async function readSearchFilter(
  services: FilterServices,
  requester: Requester,
  fields: EvaluationResultFilter,
): Promise<SearchFilter> {
  const filter = await readResultFilter(services, requester, fields);
  return { ...filter, status: filter.status ?? "success" };
}

export function readSearchOrder(order: EvaluationResultSearchRequest["order"]): TimeOrder | ColumnOrder {
  if (order === "created_at" || order === "-created_at" || !order) return readOrder(order ?? undefined);
  return columnOrders[order];
}

/** The query of an export, in the types of a search. */
export function readExportQuery(query: EvaluationResultExportQuery) {
  const {
    tags,
    pass,
    explain,
    has_run,
    score_raw_min,
    score_raw_max,
    order,
    format,
    evaluator_profile_revision: revision,
    ...names
  } = query;
  const filter: EvaluationResultFilter = {
    ...names,
    tags: tags === undefined ? undefined : readTags(tags),
    pass: pass === undefined ? undefined : isTrueWord(pass),
    explain: explain === undefined ? undefined : isTrueWord(explain),
    has_run: has_run === undefined ? undefined : isTrueWord(has_run),
    evaluator_profile_revision: revision === undefined ? undefined : Number(revision),
    score_raw_min: score_raw_min === undefined ? undefined : Number(score_raw_min),
    score_raw_max: score_raw_max === undefined ? undefined : Number(score_raw_max),
  };
  return { filter, order: readOrder(order), format: format ?? "jsonl" };
}

const idsPerExportPage = 1_000;

/** An account's results of a filter, yet to be read. The next page starts after the last id of this one. */
export async function searchResults(
  { store }: { store: Store },
  requester: Requester,
  filter: SearchFilter,
  page: SearchPage<TimeOrder | ColumnOrder>,
): Promise<Pieces<StoredResult>> {
  const { accountId } = requester;
  const reader = store.reader({ ...requester, rows: page.limit });
  const ids = await searchIds(reader, accountId, filter, page);
  const bytesOf = await selectPayloadBytes(reader, ids, page.maxTextCharacters);
  refuseLargePage(
    [...bytesOf.values()].map((bytes) => ({ bytes })),
    "results",
    "Cut the texts with text_limit, or ask for fewer results with limit.",
  );
  return readInPieces(ids, bytesOf, (some) => selectResults(reader, accountId, some, page.maxTextCharacters));
}

/** All of an account's results of a filter, in non-empty pieces that are read on demand. */
export async function* exportResults(
  { store }: { store: Store },
  requester: Requester,
  filter: SearchFilter,
  order: TimeOrder,
): AsyncGenerator<StoredResult[], void> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  let rest = filter;
  for (;;) {
    const ids = await searchIds(reader, accountId, rest, { order, limit: idsPerExportPage });
    const bytesOf = await selectPayloadBytes(reader, ids);
    yield* readInPieces(ids, bytesOf, (some) => selectResults(reader, accountId, some)).read();
    const last = ids.at(-1);
    if (last === undefined || ids.length < idsPerExportPage) return;
    rest = { ...filter, [order === "newest-first" ? "beforeId" : "afterId"]: last };
  }
}

/** The ids of an account's results of a filter, a page of them. */
export async function searchIds(
  reader: Database,
  accountId: string,
  filter: SearchFilter,
  { order, limit }: SearchPage<TimeOrder | ColumnOrder>,
): Promise<number[]> {
  if (order !== "newest-first" && order !== "oldest-first") {
    const { afterId, beforeId, ...rest } = filter;
    const found = { accountId, filter: await withTimesAsIds(reader, rest), page: { order, limit } };
    return await selectIdsByColumn(reader, { ...found, afterId, beforeId }).catch((error: unknown) =>
      refuseGonePlace(error, afterId),
    );
  }
  const page = { order, limit };
  // In this order, so that whatever follows sees only settled results.
  const settled = await withSettledOnly(reader, filter, page);
  return await selectResultIds(reader, { accountId, filter: await withTimesAsIds(reader, settled), page });
}

function refuseGonePlace(error: unknown, afterId: number | undefined): never {
  if (!(error instanceof GonePlaceError)) throw error;
  const name = error.id === afterId ? "after_id" : "before_id";
  const reason = "There is no such result, or it was deleted: begin at the first page";
  throw new InvalidRequestError([valueError(["body", name], reason, error.id)]);
}

/** The indexes are in the order of ids, not of times: times narrow the range of ids, and each result's time is checked. */
export async function withTimesAsIds<Filter extends ResultFilter>(
  reader: Database,
  filter: Filter,
): Promise<Filter> {
  const { createdAfter, createdBefore } = filter;
  if (createdAfter === undefined && createdBefore === undefined) return filter;
  const { afterId, beforeId } = await selectIdsAtTimes(reader, createdAfter, createdBefore);
  return {
    ...filter,
    afterId: narrowest(Math.max, filter.afterId, afterId),
    beforeId: narrowest(Math.min, filter.beforeId, beforeId),
  };
}

export function narrowest(
  pick: (a: number, b: number) => number,
  given: number | undefined,
  found: number | null,
): number | undefined {
  if (given === undefined || found === null) return given ?? found ?? undefined;
  return pick(given, found);
}

/**
 * Reading upwards continues after the greatest id, and would miss a result of a smaller id that is committed later. Newest first,
 * everything committed is shown, so that clients find what they have just written.
 */
async function withSettledOnly(
  reader: Database,
  filter: SearchFilter,
  { order }: SearchPage,
): Promise<SearchFilter> {
  if (filter.afterId === undefined && order === "newest-first") return filter;
  const lastSettled = await selectLastSettled(reader);
  if (lastSettled === undefined) return filter;
  return { ...filter, beforeId: narrowest(Math.min, filter.beforeId, lastSettled + 1) };
}

/**
 * The evaluator id that a filter means: an alias stands for its newest evaluator, unless results were imported under that name. Any
 * other name is that of an external evaluator.
 */
async function resolveEvaluatorId(
  { store, registry }: { store: Store; registry: Registry },
  requester: Requester,
  idOrAlias: string,
): Promise<string> {
  const id = registry.find(idOrAlias)?.id;
  if (id === undefined || id === idOrAlias) return idOrAlias;
  const reader = store.reader({ ...requester, rows: 1 });
  return (await hasResultsOf(reader, requester.accountId, idOrAlias)) ? idOrAlias : id;
}

function readOrder(order: "-created_at" | "created_at" | undefined): TimeOrder {
  return order === "created_at" ? "oldest-first" : "newest-first";
}

const columnOrders = {
  dataset_sample_id: "first-sample-first",
  "-dataset_sample_id": "last-sample-first",
  score_raw: "lowest-score-first",
  "-score_raw": "highest-score-first",
} as const;

function readTags(text: string): EvaluationResultFilter["tags"] {
  try {
    const parsed = EvaluationResultFilter.shape.tags.safeParse(JSON.parse(text));
    if (parsed.success && parsed.data !== null) return parsed.data;
  } catch {
    // Rejected below.
  }
  const msg = "Value error, Input should be a JSON object of strings";
  const issue: ValidationError = { type: "value_error", loc: ["query", "tags"], msg, input: text };
  throw new InvalidRequestError([issue]);
}

/** An empty text counts as absent, as when results are written. */
function given<Value>(value: Value | null | undefined): Value | undefined {
  return value === "" ? undefined : (value ?? undefined);
}

function instantOf(text: string | null | undefined): number | undefined {
  return text ? readInstant(text) : undefined;
}

function idOf(id: unknown): number | undefined {
  return id === null || id === undefined ? undefined : readResultId(id);
}
