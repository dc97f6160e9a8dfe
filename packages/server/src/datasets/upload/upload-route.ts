import {
  DatasetLine,
  DatasetPath,
  DatasetRevision,
  DatasetUploadQuery,
  EpisodeSelection,
  HTTPValidationError,
  ImportFormatsResponse,
  ImportPreview,
  ImportPreviewQuery,
  isTrueWord,
  RealityCheckSelection,
} from "@presage/contract";
import { z } from "zod";
import { type CallWithCaller, keepOpen, requesterOf } from "../../http/call.ts";
import { errorResponse, response } from "../../http/describe.ts";
import { reserveStored } from "../../http/memory.ts";
import { receiveUpload } from "../../http/receive-upload.ts";
import { readBody } from "../../http/request.ts";
import { reply, route } from "../../http/route.ts";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import { InvalidFieldError, UploadError } from "../../platform/errors.ts";
import type { Requester } from "../../platform/storage/store.ts";
import { toDatasetRevision } from "../datasets.ts";
import { noSuchRevision } from "../datasets-route.ts";
import examples from "../examples.json" with { type: "json" };
import { ownLines, readImport } from "../traces/import-options.ts";
import { openAiChat } from "../traces/layouts/messages/openai-chat.ts";
import { layouts } from "../traces/layouts.ts";
import type { DatasetUploads, Upload, UploadedRevision } from "./upload-revision.ts";

interface UploadServices {
  datasets: DatasetUploads;
  settings: { maxShortBodyBytes: number };
  /** The lines of a dataset in which each of the selected episodes is a trajectory. */
  episodeLines(requester: Requester, selection: EpisodeSelection): AsyncIterable<Uint8Array>;
  /** The same with what really happened after each episode's actions. */
  realityLines(requester: Requester, selection: RealityCheckSelection): AsyncIterable<Uint8Array>;
}

interface PreviewServices {
  datasets: Pick<DatasetUploads, "maxBytes"> & { uploads: Pick<DatasetUploads["uploads"], "previewImport"> };
}

const uploadDatasetRevision = route("POST", "/v1/datasets/:id/revisions", {
  needs: "evaluate",
  id: "uploadDatasetRevision",
  summary: "Upload a revision",
  description:
    "Stores the samples of the body's files, plain or packed with gzip, zstd or zip, as an immutable revision, in the order in which they come. The revision becomes visible once the whole body is stored; if a line or a document is wrong, the error names it by its number and nothing is kept, unless `on_fault=skip`. Uploading the same lines again returns the revision that has them. With `append=true` the lines of the latest revision come first. With `from=episodes` the body is one JSON object that says which episodes become the trajectories of the revision, oldest first: each step a sample, with the episode's id as the trajectory. With `from=reality-checks` they are the episodes that reality checks have replayed, with what really happened. With `Content-Encoding: gzip` the body is decompressed.",
  params: DatasetPath,
  query: DatasetUploadQuery,
  more: {
    requestBody: {
      required: true,
      description:
        "Presage's own lines, or a file in another format: see the parameter `format`. As `multipart/form-data`, several files.",
      content: {
        "application/x-ndjson": { schema: DatasetLine, example: examples.line },
        "application/json": {
          schema: z.union([EpisodeSelection, RealityCheckSelection]),
          example: { environment: "sandbox", status: "finished" },
        },
        ...uploadedFiles(openAiChat.about.example),
      },
    },
  },
  responses: {
    "200": response("The revision that already had these lines", DatasetRevision, examples.revision),
    "201": response("The new revision", DatasetRevision, examples.revision),
    "409": errorResponse(
      "The dataset was deleted during the upload, the upload was interrupted for too long, or another revision was added while lines were appended",
      "The upload was interrupted for too long.",
    ),
    ...noSuchRevision,
    "413": errorResponse(
      "The upload is larger than PRESAGE_MAX_DATASET_BYTES or 200 times as long as its gzip, or the account's datasets would be larger than its quota",
      "The upload is larger than 1073741824 bytes (PRESAGE_MAX_DATASET_BYTES), decompressed.",
    ),
    "422": response(
      "A line, named by its number, or the request is not valid",
      HTTPValidationError,
      examples.wrongLine,
    ),
    "507": errorResponse(
      "The disk of the database has less room than PRESAGE_MIN_FREE_DISK_BYTES, or a temporary file that the upload needs cannot be written",
      "The database's disk has 734003200 bytes free, and uploads and runs leave 1073741824 (PRESAGE_MIN_FREE_DISK_BYTES).",
    ),
  },
  async handle(services: UploadServices, { call, params: { id }, query }) {
    const { maxBytes, floor, quotaBytes, sweeper } = services.datasets;
    const { accountId, actor } = requesterOf(call);
    const isAppended = isTrueWord(query.append ?? "false");
    const into = { accountId, actor, datasetId: id, isAppended, maxBytes, floor, quotaBytes };
    try {
      const { revision, isNew } =
        query.from === undefined
          ? await receiveRevision(services, call, query, into)
          : await reviseFromEpisodes(services, call, query, into, query.from);
      const body = toDatasetRevision(revision);
      return isNew ? reply(201, body) : reply(200, body);
    } finally {
      sweeper.schedule();
    }
  },
});

const importFormats: ImportFormatsResponse = {
  data: layouts.map(({ format, about }) => ({ format, ...about })),
};

const listFormats = route("GET", "/v1/imports/formats", {
  needs: "evaluate",
  id: "listImportFormats",
  summary: "List the formats of traces",
  description:
    "The formats of recorded traces that an upload may have, each with a small example, in the order in which they are tried.",
  responses: {
    "200": response("The formats", ImportFormatsResponse, { data: importFormats.data.slice(0, 1) }),
  },
  handle: () => reply(200, importFormats),
});

const previewOfImport = route("POST", "/v1/imports/preview", {
  needs: "evaluate",
  id: "previewImport",
  summary: "Preview an import",
  description:
    "Reads a file of recorded traces as an upload to a dataset would, at most its first 64 MiB, and says what it understood: the format, how many trajectories and samples, what is left out and why, and the first three samples. Nothing is stored. Lines or documents that cannot be read are listed in `faults`.",
  query: ImportPreviewQuery,
  more: {
    requestBody: {
      required: true,
      description: "The file; as `multipart/form-data`, several.",
      content: uploadedFiles(openAiChat.about.example),
    },
  },
  responses: {
    "200": response("What the import would store", ImportPreview, examples.importPreview),
    "413": errorResponse(
      "The file is 200 times as long as its compressed form",
      "Decompressed, the body is more than 200 times as long. Send it uncompressed.",
    ),
    "422": response("No format fits, or the request is not valid", HTTPValidationError, {
      detail: [{ type: "unrecognised_layout", loc: ["body"], msg: 'No known format: its keys are "foo"' }],
    }),
    "507": errorResponse(
      "A temporary file that the upload needs cannot be written",
      "This upload needs a temporary file, and /tmp cannot be written (EROFS).",
    ),
  },
  async handle({ datasets }: PreviewServices, { call, query }) {
    const { maxBytes, uploads } = datasets;
    const { accountId } = requesterOf(call);
    const contentType = call.request.headers.get("content-type") ?? undefined;
    const preview = await receiveUpload(call, (body, { isGzip }) =>
      uploads.previewImport(
        { accountId, ...readImport(query), contentType, isGzip, maxBytes },
        body,
        call.request.signal,
      ),
    );
    return reply(200, preview);
  },
});

export const datasetUploadRoutes = [uploadDatasetRevision];

export const importRoutes = [listFormats, previewOfImport];

/** Memory for the steps of an episode, which are read together. */
export const bytesOfEpisode = 1_000_000;

const noEpisodes = "No episode with a step matches";

/** Where an upload is stored, and within which limits. */
type Destination = Omit<Upload, "options" | "given" | "source" | "contentType" | "isGzip">;

/** Stores the lines of a request's body as a revision, as they arrive. */
async function receiveRevision(
  { datasets }: UploadServices,
  call: CallWithCaller,
  query: ImportPreviewQuery,
  into: Destination,
): Promise<UploadedRevision> {
  const contentType = call.request.headers.get("content-type") ?? undefined;
  return await receiveUpload(call, (body, { isGzip }) =>
    datasets.uploads.uploadRevision(
      { ...into, ...readImport(query), isGzip, contentType },
      body,
      call.request.signal,
    ),
  );
}

/** Stores the steps of the episodes that a request's body names as a revision. */
async function reviseFromEpisodes(
  { datasets, ...services }: UploadServices,
  call: CallWithCaller,
  query: ImportPreviewQuery,
  into: Destination,
  from: NonNullable<DatasetUploadQuery["from"]>,
): Promise<UploadedRevision> {
  if (query.format !== undefined)
    throw new InvalidRequestError([valueError(["query", "format"], "Episodes have no format", query.format)]);
  const { given, options } = readImport(query);
  const lines = await readSelected(services, call, from);
  keepOpen(call);
  reserveStored(call.exchange, bytesOfEpisode);
  try {
    return await datasets.uploads.uploadRevision(
      { ...into, ...ownLines, given, options: { ...options, format: "presage" } },
      lines,
      call.request.signal,
    );
  } catch (error) {
    if (!(error instanceof UploadError)) throw error;
    const [fault] = error.faults;
    const message = fault?.line === undefined ? noEpisodes : fault.reason;
    throw new InvalidRequestError([valueError(["body"], message)], new InvalidFieldError([], message));
  }
}

async function readSelected(
  { settings: { maxShortBodyBytes }, episodeLines, realityLines }: Omit<UploadServices, "datasets">,
  call: CallWithCaller,
  from: NonNullable<DatasetUploadQuery["from"]>,
): Promise<AsyncIterable<Uint8Array>> {
  return from === "episodes"
    ? episodeLines(requesterOf(call), await readBody(call, EpisodeSelection, maxShortBodyBytes))
    : realityLines(requesterOf(call), await readBody(call, RealityCheckSelection, maxShortBodyBytes));
}

/** The body of an upload with one or several files. */
function uploadedFiles(example: string) {
  const file = {
    type: "string",
    format: "binary",
    description: "A file, plain, gzip, zstd or zip.",
  } as const;
  const files = {
    type: "array",
    items: file,
    minItems: 1,
    description: "The files, in their order.",
  } as const;
  return {
    "application/octet-stream": { schema: file, example },
    "multipart/form-data": {
      schema: { type: "object", properties: { file: files }, additionalProperties: false },
      example: { file: [example] },
    },
  } as const;
}
