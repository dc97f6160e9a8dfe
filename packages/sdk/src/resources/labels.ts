import type {
  AgreementOfLabelsQuery,
  LabelAgreement,
  LabelImport,
  LabelListResponse,
  LabelRequest,
  LabelSample,
  LabelSampleListResponse,
  LabelSampleRequest,
} from "@presage/contract";
import { type CallOptions, type QueryOf, underOneKey, type WriteOptions } from "../call.ts";
import { listAllPages } from "../paging.ts";
import type { Transport } from "../transport.ts";
import type { DatasetLines } from "./datasets.ts";

/** Options of an import of labels. */
export interface LabelImportOptions extends CallOptions {
  /** Whether the lines are compressed. */
  isGzip?: boolean | undefined;
}

/** What people say of outputs, apart from the evaluators. */
export interface Labels {
  /** Gets the labels of a result, one a person, and the correction that counts: `GET /v1/evaluation-results/{id}/labels`. */
  list(resultId: string | number, options?: CallOptions): Promise<LabelListResponse>;
  /** Stores a person's label in place of an earlier one; null takes it back: `POST /v1/evaluation-results/{id}/labels`. */
  give(resultId: string | number, label: LabelRequest, options?: WriteOptions): Promise<LabelListResponse>;
  /** Stores labels from elsewhere, JSON Lines; none if a line is wrong: `POST /v1/evaluation-labels`. Sent again they change nothing. */
  import(lines: DatasetLines, options?: LabelImportOptions): Promise<LabelImport>;
  /** Draws verdicts of a run to be labelled: `POST /v1/runs/{id}/label-sample`. */
  draw(runId: string, wanted: LabelSampleRequest, options?: WriteOptions): Promise<LabelSample>;
  /** Lists what was drawn from a run, the newest first: `GET /v1/runs/{id}/label-samples`. */
  listDrawn(runId: string, options?: CallOptions): Promise<LabelSample[]>;
  /** Gets how far an evaluator agrees with people, or with another one of its run: `GET /v1/agreement`. */
  agreement(query?: QueryOf<AgreementOfLabelsQuery>, options?: CallOptions): Promise<LabelAgreement>;
}

export function labels({ json }: Transport): Labels {
  const ofResult = (id: string | number) => `/v1/evaluation-results/${encodeURIComponent(id)}/labels`;
  const ofRun = (id: string, name: string) => `/v1/runs/${encodeURIComponent(id)}/${name}`;
  return {
    list: (id, options) => json({ method: "GET", path: ofResult(id) }, options),
    give: (id, body, options) =>
      json({ method: "POST", path: ofResult(id), body, ...underOneKey(options) }, options),
    import: (content, { isGzip, ...options } = {}) =>
      json(
        {
          method: "POST",
          path: "/v1/evaluation-labels",
          content,
          headers: {
            "content-type": "application/x-ndjson",
            ...(isGzip ? { "content-encoding": "gzip" } : {}),
          },
          isRepeatable: false,
        },
        options,
      ),
    draw: (id, body, options) =>
      json({ method: "POST", path: ofRun(id, "label-sample"), body, ...underOneKey(options) }, options),
    listDrawn: (id, options) =>
      listAllPages((query) =>
        json<LabelSampleListResponse>({ method: "GET", path: ofRun(id, "label-samples"), query }, options),
      ),
    agreement: (query, options) =>
      json({ method: "GET", path: "/v1/agreement", query: { ...query } }, options),
  };
}
