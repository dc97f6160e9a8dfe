import { OrsCreateRequest, OrsPath } from "@presage/contract";
import { keepOpen } from "../../http/keep-open.ts";
import { readJsonBody } from "../../http/read-json.ts";
import { reserveBody } from "../../http/reserve-memory.ts";
import {
  type Call,
  type CallWithCaller,
  environmentParameter,
  type Route,
  withKey,
} from "../../http/route.ts";
import { InvalidRequestError, validate } from "../../http/validate.ts";
import { ServiceError } from "../../platform/errors.ts";
import { sandboxName } from "../sandbox-environment.ts";

/** A route of the protocol: whoever calls it plays. */
export function toPlay(method: "GET" | "POST", path: string, handle: KeyHandle): Route {
  return withKey(method, path, "predict", handle);
}

/** A route below an environment's name, and without one: OpenReward's own client sends the name as `X-Deployment`. */
export function withEnvironment(method: "GET" | "POST", path: string, handle: KeyHandle): Route[] {
  return [toPlay(method, `/:${environmentParameter}${path}`, handle), toPlay(method, path, handle)];
}

type KeyHandle = Parameters<typeof withKey>[3];

/** The environment that a request names, whatever the case; the built-in one if it names none. */
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

export function apiKeyIdOf({ caller: { proof } }: CallWithCaller): string | undefined {
  return proof.kind === "key" ? proof.keyId : undefined;
}

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
