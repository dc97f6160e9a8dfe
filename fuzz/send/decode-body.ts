import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import type { RawResponse } from "./read-response.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** A response's body as text; undefined if it is not text. */
export function decodeBody({ headers, body }: RawResponse): string | undefined {
  const encoding = headers.get("content-encoding");
  try {
    return utf8.decode(encoding === undefined ? body : decoders[encoding]?.(body));
  } catch {
    return undefined;
  }
}
