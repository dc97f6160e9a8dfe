import {
  HTTPValidationError,
  ImportFormatsResponse,
  ImportPreview,
  ImportPreviewQuery,
} from "@presage/contract";
import { requesterOf } from "../../http/call.ts";
import { errorResponse, response } from "../../http/describe.ts";
import { receiveUpload } from "../../http/receive-upload.ts";
import { reply, route } from "../../http/route.ts";
import examples from "../examples.json" with { type: "json" };
import type { DatasetUploads } from "../upload/upload-revision.ts";
import { readImport } from "./import.ts";
import { openAiChat } from "./layouts/messages/openai-chat.ts";
import { layouts } from "./layouts.ts";

const formats: ImportFormatsResponse = {
  data: layouts.map(({ format, about }) => ({ format, ...about })),
};

const listFormats = route("GET", "/v1/imports/formats", {
  needs: "evaluate",
  id: "listImportFormats",
  summary: "List the formats of traces",
  description:
    "The formats of recorded traces that an upload may have, each with a small example, in the order in which they are tried.",
  responses: { "200": response("The formats", ImportFormatsResponse, { data: formats.data.slice(0, 1) }) },
  handle: () => reply(200, formats),
});

/** The body of an upload of one file, or of several. */
export function uploadedFiles(example: string) {
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

interface PreviewServices {
  datasets: Pick<DatasetUploads, "maxBytes"> & { uploads: Pick<DatasetUploads["uploads"], "previewImport"> };
}

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
      "The body becomes more than 200 times as long when it is decompressed. Send it uncompressed.",
    ),
    "422": response("No format fits, or the request is not valid", HTTPValidationError, {
      detail: [{ type: "unrecognised_layout", loc: ["body"], msg: 'No known format: its keys are "foo"' }],
    }),
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

export const importRoutes = [listFormats, previewOfImport];
