import { expect } from "bun:test";
import { Dataset, DatasetRevision } from "@presage/contract";
import { type TestPresage, testKey } from "../presage/presage.ts";

export function toLines(objects: readonly unknown[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join("");
}

interface UploadOptions {
  query?: string;
  headers?: Record<string, string>;
}

/** The calls that tests make on datasets. */
export function datasetClient(presage: Pick<TestPresage, "call">) {
  let last = 0;

  async function upload(
    id: string,
    body: string | Uint8Array | ReadableStream,
    { query = "", headers = {} }: UploadOptions = {},
  ): Promise<Response> {
    const path = `/v1/datasets/${id}/revisions${query}`;
    return await presage.call("POST", path, body, { "x-api-key": testKey, ...headers });
  }

  return {
    upload,
    /** Creates a dataset, and returns its id. */
    async create(): Promise<string> {
      last += 1;
      const response = await presage.call("POST", "/v1/datasets", { name: `dataset ${last}` });
      expect(response.status).toBe(201);
      return Dataset.parse(await response.json()).id;
    },
    /** Uploads a new revision of these lines. */
    async uploadNew(
      id: string,
      objects: readonly unknown[],
      options?: UploadOptions,
    ): Promise<DatasetRevision> {
      const response = await upload(id, toLines(objects), options);
      const text = await response.text();
      expect([response.status, text]).toEqual([201, expect.any(String)]);
      return DatasetRevision.parse(JSON.parse(text));
    },
    async read(path: string) {
      const response = await presage.call("GET", `/v1/datasets/${path}`);
      // biome-ignore lint/suspicious/noExplicitAny: each of the responses has a shape of its own
      return { status: response.status, body: (await response.json()) as any };
    },
    async exportLines(id: string, query = ""): Promise<string> {
      return await (await presage.call("GET", `/v1/datasets/${id}/export${query}`)).text();
    },
  };
}
