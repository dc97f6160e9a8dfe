import type {
  AgreementOfLabelsQuery,
  LabelAgreement,
  LabelImport,
  LabelListResponse,
  LabelRequest,
  LabelSample,
  LabelSampleRequest,
} from "@presage/contract";
import type { CallOptions, QueryOf, WriteOptions } from "../call.ts";
import { callsOf, type LinesOptions, pathsUnder } from "../resource.ts";
import type { Transport } from "../transport.ts";
import type { DatasetLines } from "./datasets.ts";

/** People's verdicts on outputs, independent of the evaluators'. */
export interface Labels {
  /** Gets the labels of a result, one for each person, and the correction that counts: `GET /v1/evaluation-results/{id}/labels`. */
  list(resultId: string | number, options?: CallOptions): Promise<LabelListResponse>;
  /** Stores a person's label in place of an earlier one; null takes it back: `POST /v1/evaluation-results/{id}/labels`. */
  give(resultId: string | number, label: LabelRequest, options?: WriteOptions): Promise<LabelListResponse>;
  /** Stores labels from elsewhere as JSON Lines; none if a line is wrong: `POST /v1/evaluation-labels`. Repeating it changes nothing. */
  import(lines: DatasetLines, options?: LinesOptions): Promise<LabelImport>;
  /** Draws verdicts of a run to be labelled: `POST /v1/runs/{id}/label-sample`. */
  draw(runId: string, wanted: LabelSampleRequest, options?: WriteOptions): Promise<LabelSample>;
  /** Lists what was drawn from a run, the newest first: `GET /v1/runs/{id}/label-samples`. */
  listDrawn(runId: string, options?: CallOptions): Promise<LabelSample[]>;
  /** Gets how far an evaluator agrees with people, or with another evaluator of its run: `GET /v1/agreement`. */
  agreement(query?: QueryOf<AgreementOfLabelsQuery>, options?: CallOptions): Promise<LabelAgreement>;
}

export function labels(transport: Transport): Labels {
  const { get, create, list, sendLines } = callsOf(transport);
  const ofResult = pathsUnder("/v1/evaluation-results");
  const ofRun = pathsUnder("/v1/runs");
  return {
    list: (id, options) => get(ofResult(id, "/labels"), options),
    give: (id, body, options) => create(ofResult(id, "/labels"), body, options),
    import: (lines, options) => sendLines("/v1/evaluation-labels", lines, options),
    draw: (id, body, options) => create(ofRun(id, "/label-sample"), body, options),
    listDrawn: (id, options) => list(ofRun(id, "/label-samples"), options),
    agreement: (query, options) => get("/v1/agreement", options, query),
  };
}
