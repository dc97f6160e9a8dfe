import {
  AppListQuery,
  AppListResponse,
  defaultPageLimit,
  EvaluationResult,
  EvaluationResultExportQuery,
  EvaluationResultSearchRequest,
  EvaluationResultSearchResponse,
  EvaluationTagListQuery,
  EvaluationTagListResponse,
  readTagCursor,
  writeTagCursor,
} from "@presage/contract";
import { keepOpenForEach } from "../../http/call.ts";
import { errorResponse, response } from "../../http/describe.ts";
import type { HttpServices } from "../../http/exchange.ts";
import { reserveStored } from "../../http/memory.ts";
import { readPage } from "../../http/request.ts";
import { logBrokenResponse, streamList, streamTexts } from "../../http/response.ts";
import { reply, route } from "../../http/route.ts";
import { toIsoInstant } from "../../platform/storage/columns.ts";
import examples from "../examples.json" with { type: "json" };
import { type StoredResult, toCurrentResult, toEvaluationResult } from "../result.ts";
import {
  exportResults,
  type FilterServices,
  readExportQuery,
  readSearchFilter,
  readSearchOrder,
  searchResults,
} from "./search-results.ts";
import { listApps, listTags } from "./values-store.ts";

/** A format for results that are written one after the other. */
export interface ExportFormat {
  contentType: string;
  head: string;
  toLines(results: readonly StoredResult[]): string;
}

const jsonl: ExportFormat = {
  contentType: "application/x-ndjson; charset=utf-8",
  head: "",
  toLines: (results) => results.map((result) => `${JSON.stringify(toEvaluationResult(result))}\n`).join(""),
};

export async function exportFormat(name: "jsonl" | "csv"): Promise<ExportFormat> {
  return name === "jsonl" ? jsonl : await csv();
}

/** Current names only: a table needs no column twice. */
const columns = Object.entries(EvaluationResult.shape)
  .filter(([, field]) => field.meta()?.deprecated !== true)
  .map(([name]) => name);

/** Most servers never write CSV: the first export loads the library. */
async function csv(): Promise<ExportFormat> {
  const { stringify } = await import("csv-stringify/sync");
  const toCsv = (records: unknown[][]) =>
    stringify(records, {
      cast: { boolean: String },
      // Spreadsheets run a text that starts like a formula, and these texts come from models and their users.
      escape_formulas: true,
    });
  return {
    contentType: "text/csv; charset=utf-8; header=present",
    head: toCsv([columns]),
    toLines: (results) =>
      toCsv(
        results.map((result) => {
          const values = new Map(Object.entries(toCurrentResult(result)));
          return columns.map((column) => values.get(column));
        }),
      ),
  };
}

export async function* exportTexts(
  pieces: AsyncIterable<readonly StoredResult[]>,
  { head, toLines }: ExportFormat,
): AsyncGenerator<string, void> {
  let before = head;
  for await (const piece of pieces) {
    yield before + toLines(piece);
    before = "";
  }
  if (before !== "") yield before;
}

type SearchServices = FilterServices & Pick<HttpServices, "log">;

const path = "/v1/evaluation-results";
const defaultLimit = 50;
const defaultTagLimit = 1_000;
/** An export reads about this much at a time, more only if one result is larger. */
const bytesOfExport = 1_000_000;

const search = route("POST", `${path}/search`, {
  needs: "read",
  id: "searchEvaluationResults",
  summary: "Search results, a page at a time",
  description:
    "Finds the account's results, newest first by default. For the next page, send the last id of this one as `before_id`, or as `after_id` if the order is `created_at`. Without a `status`, only results with a verdict are found.",
  body: EvaluationResultSearchRequest,
  refusesUnknown: true,
  bodyExample: {
    app: "night-runs",
    evaluator_id: "edit-distance",
    score_raw_max: 0.9,
    limit: 100,
    text_limit: 500,
  },
  hasOldNames: true,
  responses: {
    "200": response("The results, in the requested order", EvaluationResultSearchResponse, {
      results: [examples.result],
    }),
    "413": errorResponse(
      "The body is too large, or the page has more than 64 MB of text; lower text_limit or limit",
      "The 1000 results of this page have 70.1 MB of text; the limit is 64 MB. Cut the texts with text_limit, or ask for fewer results with limit.",
    ),
  },
  async handle(services: SearchServices, { call, requester, body }) {
    const datasetSampleIds = body.dataset_sample_ids ?? undefined;
    const filter = { ...(await readSearchFilter(services, requester, body)), datasetSampleIds };
    const page = {
      order: readSearchOrder(body.order),
      limit: body.limit ?? defaultLimit,
      maxTextCharacters: body.text_limit ?? undefined,
    };
    const found = await searchResults(services, requester, filter, page);
    const name: keyof EvaluationResultSearchResponse = "results";
    return await streamList(services, call, name, found, (result) =>
      JSON.stringify(toEvaluationResult(result)),
    );
  },
});

const exportOfSearch = route("GET", `${path}/export`, {
  needs: "read",
  id: "exportEvaluationResults",
  summary: "Export all results of a search",
  description:
    "Sends all results that match the filters, as fast as the client takes them. The filters are those of the search. CSV has a header, leaves out deprecated names, and puts a quote before texts that a spreadsheet would run as formulas.",
  query: EvaluationResultExportQuery,
  hasOldNames: true,
  responses: {
    "200": {
      description:
        "All results of the search, without a limit, one per line, as JSON or CSV. If the connection breaks, the export is incomplete. Results that are deleted meanwhile may be missing.",
      content: {
        "application/x-ndjson": { schema: EvaluationResult, example: examples.result },
        "text/csv": {
          schema: { type: "string" },
          example: "id,app,evaluator_id,pass\n1,night-runs,edit-distance-2026-11-21,false\n",
        },
      },
    },
  },
  async handle(services: SearchServices, { call, requester, query }) {
    const { filter: fields, order, format } = readExportQuery(query);
    const filter = await readSearchFilter(services, requester, fields);
    const pieces = exportResults(services, requester, filter, order);
    const written = await exportFormat(format);
    reserveStored(call.exchange, bytesOfExport);
    const texts = keepOpenForEach(call, exportTexts(pieces, written));
    const stream = await streamTexts(texts, logBrokenResponse(services, call));
    return new Response(stream, {
      headers: {
        "content-type": written.contentType,
        "content-disposition": `attachment; filename="evaluation-results.${format}"`,
      },
    });
  },
});

const listOfTags = route("GET", `${path}/tags`, {
  needs: "read",
  id: "listEvaluationTags",
  summary: "List the tags of results",
  description:
    "Returns every tag that the account's results have, with the times of the first and the latest result.",
  query: EvaluationTagListQuery,
  allowsUnknown: true,
  responses: {
    "200": response("The tags, by key and value", EvaluationTagListResponse, examples.tags),
  },
  async handle(services: SearchServices, { requester, query: { limit, after } }) {
    const page = {
      limit: Number(limit ?? defaultTagLimit),
      after: after === undefined ? undefined : readTagCursor(after),
    };
    const { tags, next } = await listTags(services, requester, page);
    const data = tags.map(({ createdAt, lastUsed, ...tag }) => ({
      ...tag,
      created_at: toIsoInstant(createdAt),
      last_used: toIsoInstant(lastUsed),
    }));
    return reply(200, { tags: data, next: next === undefined ? null : writeTagCursor(next) });
  },
});

export const listOfApps = route("GET", "/v1/apps", {
  needs: "read",
  id: "listApps",
  summary: "List the apps that have results",
  description:
    "Lists the names under `app` in the account's results. An app exists as soon as it has a result.",
  query: AppListQuery,
  allowsUnknown: true,
  responses: {
    "200": response("The apps, by name", AppListResponse, { apps: [{ name: "night-runs" }], next: null }),
  },
  async handle(services: SearchServices, { requester, query }) {
    const page = { after: query.after, ...readPage(query, defaultPageLimit) };
    const { names, next } = await listApps(services, requester, page);
    return reply(200, { apps: names.map((name) => ({ name })), next: next ?? null });
  },
});

export const resultSearchRoutes = [search, exportOfSearch, listOfTags];
