import { OrsCreateRequest, OrsPath, policyLabel } from "@presage/contract";
import { type Call, environmentParameter, keepOpen } from "../../http/call.ts";
import { reserveBody } from "../../http/memory.ts";
import { readJsonBody } from "../../http/request.ts";
import { hiddenRoute, type Operation } from "../../http/route.ts";
import { InvalidRequestError, validate } from "../../http/validate.ts";
import { ServiceError } from "../../platform/errors.ts";
import { sandboxName } from "../environment.ts";

/** A route of the protocol: all its callers play. */
export function playRoute<Services>(
  method: "GET" | "POST",
  path: string,
  handle: Handle<Services>,
): Operation<Services> {
  return hiddenRoute({ method, path, access: "key", needs: "predict" }, handle);
}

/** Routes with and without an environment's name in the path: OpenReward's own client sends the name as `X-Deployment`. */
export function environmentRoutes<Services>(
  method: "GET" | "POST",
  path: string,
  handle: Handle<Services>,
): Operation<Services>[] {
  return [playRoute(method, `/:${environmentParameter}${path}`, handle), playRoute(method, path, handle)];
}

type Handle<Services> = Parameters<typeof hiddenRoute<Services>>[1];

/** The environment that a request names, in lower case; the built-in one if it names none. */
export function readEnvironmentName({ request }: Call): string {
  const deployment = request.headers.get("x-deployment")?.split("/").at(-1);
  const env = request.params?.[environmentParameter] ?? (deployment || sandboxName);
  return validate(OrsPath, { env }, "path").env.toLowerCase();
}

/** The session that a request names. */
export function readSessionId({ request }: Call): string {
  const id = request.headers.get("x-session-id")?.trim();
  if (id) return id;
  throw new ServiceError("bad_request", "The header X-Session-ID is required.");
}

/** The agent's label, sent in a header because the protocol's own bodies have no place for it. */
export function readPolicy({ request }: Call): string | undefined {
  const label = request.headers.get(policyHeader)?.trim();
  return label ? validate(policyLabel, label, "header") : undefined;
}

const policyHeader = "x-presage-policy";

export interface WantedPlace {
  environment: string | undefined;
  split: string;
  index: number;
}

/** The body of `POST /create`. Its `secrets` are discarded, and no error quotes the body. */
export async function readWantedSession(call: Call, maxBodyBytes: number): Promise<WantedPlace> {
  const body = await readBodyOfSession(call, maxBodyBytes).catch(withoutQuotes);
  const place = body.task_spec ?? body;
  const environment = body.env_name?.toLowerCase();
  const hasBoth = Boolean(body.task_spec) && (body.split ?? body.index ?? null) !== null;
  if (hasBoth || typeof place.split !== "string" || typeof place.index !== "number")
    throw new ServiceError(
      "bad_request",
      "Provide either task_spec, a task as the server lists it, or both split and index.",
    );
  return { environment, split: place.split, index: place.index };
}

async function readBodyOfSession(call: Call, maxBodyBytes: number): Promise<OrsCreateRequest> {
  const { plain } = await readJsonBody(call.request, maxBodyBytes, (bytes) =>
    reserveBody(call.exchange, bytes),
  );
  keepOpen(call);
  if (typeof plain === "object" && plain !== null) Reflect.deleteProperty(plain, "secrets");
  return validate(OrsCreateRequest, plain, "body");
}

function withoutQuotes(error: unknown): never {
  if (!(error instanceof InvalidRequestError)) throw error;
  throw new InvalidRequestError(
    error.issues.map(({ type, loc, msg }) => ({
      type,
      loc,
      msg: type === "json_invalid" ? "JSON decode error" : msg,
    })),
  );
}

/** The client reads line by line, each into one buffer. */
const maxChunkCharacters = 4_096;

/** A server-sent event. */
export function toEvent(name: "task_id" | "chunk" | "end" | "error", data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

/** Keeps the connection alive. */
export const comment = ": waiting\n\n";

/**
 * JSON in chunks that add up to the same value. The client strips all Unicode white space from the left of each chunk, so no chunk
 * begins with any: JSON contains it only in strings, where it can be escaped.
 */
export function toChunks(json: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < json.length; ) {
    const to = endOfChunk(json, from + maxChunkCharacters);
    chunks.push(escapeFirst(json.slice(from, to)));
    from = to;
  }
  return chunks;
}

/** The end of a chunk, not between the halves of a surrogate pair. */
function endOfChunk(json: string, wanted: number): number {
  const code = json.charCodeAt(wanted - 1);
  const isFirstHalf = code >= 0xd800 && code <= 0xdbff;
  return isFirstHalf && wanted < json.length ? wanted - 1 : wanted;
}

/** Python's white space: \s and five more characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are white space to the client
const firstWhiteSpace = /^[\s\u001c-\u001f\u0085]/;

function escapeFirst(chunk: string): string {
  return chunk.replace(firstWhiteSpace, (space) => `\\u${space.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
