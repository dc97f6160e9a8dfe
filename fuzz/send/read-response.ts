/** A response as received. */
export interface RawResponse {
  status: number;
  /** Names in lower case; if a name occurs twice, the last value. */
  headers: Map<string, string>;
  body: Buffer;
}

/** Takes the first complete response off `bytes`. Undefined if there is none yet. */
export function readResponse(
  bytes: Buffer,
  method: string,
  isClosed: boolean,
): { response: RawResponse; rest: Buffer } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const after = bytes.subarray(headEnd + 4);
  // Interim responses such as "100 Continue" come first.
  if (status < 200) return readResponse(after, method, isClosed);
  if (method === "HEAD" || status === 204 || status === 304) {
    return { response: { status, headers, body: Buffer.alloc(0) }, rest: after };
  }
  const body = readBody(after, headers, isClosed);
  return body === undefined ? undefined : { response: { status, headers, body: body.body }, rest: body.rest };
}

function readBody(bytes: Buffer, headers: Map<string, string>, isClosed: boolean) {
  if (headers.get("transfer-encoding") === "chunked") return readChunks(bytes);
  const length = headers.get("content-length");
  if (length === undefined) return isClosed ? { body: bytes, rest: Buffer.alloc(0) } : undefined;
  if (bytes.length < Number(length)) return undefined;
  return { body: bytes.subarray(0, Number(length)), rest: bytes.subarray(Number(length)) };
}

function readChunks(bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const chunks: Buffer[] = [];
  for (let from = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", from);
    if (lineEnd < 0) return undefined;
    const length = Number.parseInt(bytes.subarray(from, lineEnd).toString("latin1"), 16);
    const end = lineEnd + 2 + length;
    if (Number.isNaN(length) || bytes.length < end + 2) return undefined;
    if (length === 0) return { body: Buffer.concat(chunks), rest: bytes.subarray(end + 2) };
    chunks.push(bytes.subarray(lineEnd + 2, end));
    from = end + 2;
  }
}
