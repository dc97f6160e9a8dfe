import { ServiceError } from "../errors.ts";

/** One text for every refusal: a caller learns nothing about which keys and sessions exist. */
export function notAuthenticated(): ServiceError {
  return new ServiceError(
    "unauthenticated",
    "A valid API key, as X-API-KEY or as a bearer token, or a session is needed.",
  );
}
