import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { resolveReferences, writeJson } from "../generate/draw.ts";
import { percentEncoded } from "../generate/odd-request.ts";
import type { Plan } from "../generate/plan.ts";
import type { Target } from "../target/target.ts";
import type { Connection, Outcome } from "./response.ts";

/** A request's parts as they are sent. */
export interface WrittenRequest {
  method: string;
  target: string;
  /** One character is one byte. */
  headers: [name: string, value: string][];
  body: Buffer | undefined;
  bytes: Buffer;
}

export interface WriteContext {
  /** Replaces placeholders with ids from earlier responses. */
  resolve(text: string): string;
  /** The headers that authenticate the caller. */
  credentials: [name: string, value: string][];
  /** The caller's own key. */
  ownKey: string;
}

const ownKeyMark = "@@own@@";
const encoders = {
  identity: (bytes: Buffer) => bytes,
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

/** Writes a request as bytes. */
export function writeRequest(plan: Plan, requestId: string, context: WriteContext): WrittenRequest {
  const { method } = plan;
  const target = targetOf(plan, (text) => context.resolve(text));
  const body = bodyOf(plan, context);
  const headers: [string, string][] = [
    ...(plan.host === undefined ? [] : [["host", plan.host] as [string, string]]),
    ["x-request-id", requestId],
    ...context.credentials,
    ...(body === undefined ? [] : [["content-type", "application/json"] as [string, string]]),
    ...(plan.encoding === "identity" || body === undefined
      ? []
      : [["content-encoding", plan.encoding] as [string, string]]),
    ...plan.headers.map(([name, value]): [string, string] => [
      name,
      context.resolve(value).replaceAll(ownKeyMark, context.ownKey),
    ]),
    ...framingOf(plan, body),
  ].filter(([name], index, all) => isLast(plan, name as string, index, all as [string, string][])) as [
    string,
    string,
  ][];
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const start = Buffer.from(`${method} ${target} HTTP/${plan.version}\r\n${head}\r\n`, "latin1");
  const bytes = Buffer.concat([start, framed(plan, body)]);
  return { method, target, headers, body, bytes };
}

/** A mutated header replaces the usual one; sending both would be a different mutation. */
function isLast(plan: Plan, name: string, index: number, headers: [string, string][]): boolean {
  if (name !== "x-request-id" && name !== "content-type") return true;
  return plan.headers.length === 0 || headers.findLastIndex((header) => header[0] === name) === index;
}

function targetOf(
  { operation, pathParameters, pathSuffix, query, querySuffix }: Plan,
  resolve: (text: string) => string,
): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    // The rest of an odd parameter is sent as it is.
    resolve(pathParameters[name] ?? "").replaceAll(/[^!-~]+/g, percentEncoded),
  );
  const pairs = query.map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(resolve(value))}`);
  const whole = [...pairs, ...(querySuffix === "" ? [] : [querySuffix])].join("&");
  return `${path}${pathSuffix}${whole === "" ? "" : `?${whole}`}`;
}

function bodyOf({ body, textMutations, encoding }: Plan, { resolve }: WriteContext): Buffer | undefined {
  if (body === undefined && textMutations.length === 0) return undefined;
  const text = Buffer.from(resolve(writeJson(body)));
  const bytes = textMutations.reduce<Buffer>((bytes, { encode }) => encode(bytes), text);
  return encoders[encoding](bytes);
}

function framingOf({ framing, method, version }: Plan, body: Buffer | undefined): [string, string][] {
  if (body === undefined) return method === "GET" || method === "HEAD" ? [] : [["content-length", "0"]];
  return framing === "length" || version === "1.0"
    ? [["content-length", String(body.length)]]
    : [["transfer-encoding", "chunked"]];
}

function framed({ framing, version }: Plan, body: Buffer | undefined): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if (framing === "length" || version === "1.0") return body;
  const size = framing === "chunks" ? 4_096 : 7;
  const chunks: Buffer[] = [];
  // Thousands of tiny chunks would only cost time.
  for (let from = 0; from < body.length; ) {
    const chunk = body.subarray(from, from + (chunks.length < 100 ? size : body.length));
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n"));
    from += chunk.length;
  }
  return Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]);
}

export interface Exchange {
  /** The caller's account. */
  account: string;
  written: WrittenRequest;
  outcome: Outcome;
  tookMs: number;
}

/** Serialises a request with the ids known so far, sends it and waits for its response. */
export async function sendRequest(
  plan: Plan,
  requestId: string,
  target: Target,
  connection: Connection,
): Promise<Exchange> {
  const { account, credentials, ownKey } = credentialsOf(plan, target);
  const written = writeRequest(plan, requestId, {
    credentials,
    ownKey,
    resolve: (text) => resolveReferences(text, target.known.find),
  });
  const startedAtMs = performance.now();
  const outcome = await connection.send(written.bytes, plan.method);
  return { account, written, outcome, tookMs: performance.now() - startedAtMs };
}

interface Credentials {
  account: string;
  credentials: [string, string][];
  ownKey: string;
}

function credentialsOf(plan: Plan, target: Target): Credentials {
  const { caller, callerNumber, isBearer, operation } = plan;
  if (caller === "nobody") return { account: "nobody", credentials: [], ownKey: "" };
  if (caller === "session") {
    const [lasting, ...expendable] = target.sessions;
    // Signing out ends the session, and one session is needed until the end.
    const session = operation.id === "signOut" ? expendable[callerNumber % expendable.length] : lasting;
    return { account: "owner", credentials: Object.entries(session?.headers ?? {}), ownKey: "" };
  }
  const made = caller === "made" ? target.known.madeKey(callerNumber) : undefined;
  const ownKey = caller === "stranger" ? target.strangerKey : (made?.key ?? target.ownerKey);
  return {
    account: caller === "stranger" ? "stranger" : (made?.owner ?? "owner"),
    credentials: [isBearer ? ["authorization", `Bearer ${ownKey}`] : ["x-api-key", ownKey]],
    ownKey,
  };
}

/** Recent requests, to know which were in flight when something else failed. */
export interface RecentRequests {
  /** Records the start of a request; the returned function records its end. */
  begin(what: string): () => void;
  /** The requests in flight between two times in milliseconds since 1970, one per line. */
  inFlight(from: number, to: number): string;
}

const kept = 500;

export function createRecentRequests(): RecentRequests {
  const requests: { what: string; from: number; to: number }[] = [];
  return {
    begin(what) {
      const request = { what, from: Date.now(), to: Number.POSITIVE_INFINITY };
      requests.push(request);
      if (requests.length > kept) requests.shift();
      return () => {
        request.to = Date.now();
      };
    },
    inFlight(from, to) {
      const then = requests.filter((request) => request.from <= to && request.to >= from);
      return then
        .map(
          ({ what, from, to }) =>
            `${what}, ${to === Number.POSITIVE_INFINITY ? "not finished" : `${to - from} ms`}`,
        )
        .join("\n");
    },
  };
}
