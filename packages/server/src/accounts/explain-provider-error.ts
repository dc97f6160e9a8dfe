import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";
import { SignInError } from "../platform/sign-in-error.ts";

/** Codes of responses that do not belong to the attempt. */
const mismatches = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
]);

/** Explains a provider's error without repeating its text: some providers echo what they were sent. */
export function explainProviderError(error: unknown): SignInError {
  if (error instanceof SignInError) return error;
  if (error instanceof AuthorizationResponseError) return explainRefusal(error.error);
  if (error instanceof ResponseBodyError) {
    return error.error === "invalid_grant" ? broken("invalid_grant") : unavailable(safeCode(error.error));
  }
  const code = error instanceof ClientError ? error.code : undefined;
  return code !== undefined && mismatches.has(code) ? broken(code) : unavailable(code ?? systemCodeOf(error));
}

/** Explains an error from before the sign-in started. */
export function explainDiscoveryError(error: unknown): SignInError {
  return unavailable(error instanceof ClientError && error.code ? error.code : systemCodeOf(error));
}

function explainRefusal(code: string): SignInError {
  if (code === "access_denied") {
    return new SignInError("refused", code, "The identity provider refused the sign-in.");
  }
  return code === "server_error" || code === "temporarily_unavailable"
    ? unavailable(code)
    : broken(safeCode(code));
}

function broken(reason: string): SignInError {
  return new SignInError(
    "broken_attempt",
    reason,
    "The identity provider's response does not belong to a sign-in that this browser started, or it arrived too late.",
  );
}

function unavailable(reason: string): SignInError {
  return new SignInError(
    "provider_unavailable",
    reason,
    "The identity provider is unavailable. API keys still work.",
  );
}

/** A code of the standard's form; anything else could be arbitrary text. */
function safeCode(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "other";
}

function systemCodeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at.code;
  }
  return "unknown";
}
