import { ServiceError, UpstreamError } from "../errors.ts";
import { readBodyWithin } from "../limits/read-body-within.ts";
import { classifyFailure } from "./classify-error.ts";
import { type UnreachableReason, unreachableReason } from "./unreachable-reason.ts";
import type { UpstreamOptions } from "./upstream.ts";

/** More than any completion needs; an upstream that sends more is at fault. */
const maxAnswerBytes = 64 * 1024 * 1024;

export interface UpstreamCall {
  method: "GET" | "POST";
  /** Below the base URL. */
  path: string;
  body?: string | Blob;
  signal: AbortSignal;
  /** Hears how long the answer is before so much of it is read; what it throws ends the call. */
  onAnswerLength?: ((bytes: number) => void) | undefined;
  /** Do not take a connection from the pool: one may have been closed by the other side without our knowing yet. */
  freshConnection?: boolean;
}

/** A 2xx answer. */
export interface Answer {
  status: number;
  bytes: Uint8Array<ArrayBuffer>;
  /** The body as text, with our credential taken out of it. */
  text(): string;
}

type UpstreamSending = Pick<UpstreamOptions, "url" | "apiKey" | "keepAlive">;

export type Send = (call: UpstreamCall) => Promise<Answer>;

/** The connection failed before anything was answered, so that the request may be sent again. */
export class NotAnsweredError extends UpstreamError {
  readonly reason: UnreachableReason;
  /** The reason in the words of the system or of OpenSSL. */
  readonly code: string;

  constructor(cause: unknown) {
    super("unavailable", "The upstream cannot be reached.", { cause });
    this.code = codeOf(cause);
    this.reason = unreachableReason(this.code);
  }
}

/** Sends one request and reads the answer whole. Throws `UpstreamError` for all that is no 2xx. */
export function createSendOnce({ url, apiKey, keepAlive = true }: UpstreamSending): Send {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json",
    "accept-encoding": "identity",
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  const credentials = apiKey === undefined ? [] : spellingsOf(apiKey);
  const withoutCredential = (text: string) =>
    credentials.reduce((rest, credential) => rest.replaceAll(credential, "[redacted]"), text);

  return async ({ method, path, body, signal, onAnswerLength, freshConnection }) => {
    let response: Response;
    try {
      response = await fetch(url + path, {
        method,
        headers,
        signal,
        // A redirect would carry the credential to a host that nobody configured.
        redirect: "manual",
        // Bun ends a silent answer after 300 s by itself; the deadline is ours to set.
        timeout: false,
        ...(body === undefined ? {} : { body }),
        ...(freshConnection === true || !keepAlive ? { keepalive: false } : {}),
      });
    } catch (error) {
      throw signal.aborted ? signal.reason : toConnectionError(error);
    }
    const { status, ok: isSuccess } = response;
    const bytes = await readAnswer(response, signal, onAnswerLength);
    const text = () => withoutCredential(new TextDecoder().decode(bytes));
    if (isSuccess) return { status, bytes, text };
    const retryAfter = response.headers.get("retry-after") ?? undefined;
    throw classifyFailure({ status, body: text(), retryAfter });
  };
}

async function readAnswer(
  response: Response,
  signal: AbortSignal,
  onLength: UpstreamCall["onAnswerLength"],
): Promise<Uint8Array<ArrayBuffer>> {
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  try {
    bytes = await readBodyWithin(response, maxAnswerBytes, onLength);
  } catch (error) {
    if (error instanceof ServiceError) await giveUp(response);
    throw signal.aborted ? signal.reason : toBrokenAnswer(error, response.status);
  }
  if (bytes !== undefined) return bytes;
  await giveUp(response);
  throw new UpstreamError("upstream", `The upstream's answer is larger than ${maxAnswerBytes} bytes.`, {
    status: response.status,
  });
}

/** What is not read must not keep the upstream busy until the garbage collector comes by. */
async function giveUp(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}

/** A credential as it stands, and as servers write it into JSON: some escape slashes, some do not. */
function spellingsOf(credential: string): string[] {
  const inJson = JSON.stringify(credential).slice(1, -1);
  return [credential, inJson, inJson.replaceAll("/", "\\/")];
}

function toConnectionError(error: unknown): UpstreamError {
  if (codeOf(error).startsWith("Malformed_HTTP")) {
    return new UpstreamError("upstream", "The upstream does not speak HTTP.", { cause: error });
  }
  return new NotAnsweredError(error);
}

function toBrokenAnswer(error: unknown, status: number): UpstreamError | ServiceError {
  if (error instanceof ServiceError) {
    if (error.code !== "body_too_large") return error;
    const message =
      "The upstream's answer needs more memory than one request may have (PRESAGE_MEMORY_BUDGET_BYTES).";
    return new UpstreamError("upstream", message, { status, cause: error });
  }
  if (codeOf(error) === "ECONNRESET") {
    return new UpstreamError("unavailable", "The upstream broke off its answer.", { cause: error });
  }
  return new UpstreamError("upstream", "The upstream's answer cannot be read.", { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
