import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";
import { SignInError } from "./sign-in-error.ts";

/** The answer came, and it is not the one to our question. */
const mismatches = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
]);

/** What a failure at the provider means. Nothing of what the provider wrote is repeated: some of them echo what they were sent. */
export function explainProviderError(error: unknown): SignInError {
  if (error instanceof SignInError) return error;
  if (error instanceof AuthorizationResponseError) return explainRefusal(error.error);
  if (error instanceof ResponseBodyError) {
    return error.error === "invalid_grant" ? broken("invalid_grant") : unavailable(wordOf(error.error));
  }
  const code = error instanceof ClientError ? error.code : undefined;
  return code !== undefined && mismatches.has(code) ? broken(code) : unavailable(code ?? systemCodeOf(error));
}

/** A provider that cannot be asked about itself has not been asked about anybody yet. */
export function explainDiscoveryError(error: unknown): SignInError {
  return unavailable(error instanceof ClientError && error.code ? error.code : systemCodeOf(error));
}

function explainRefusal(code: string): SignInError {
  if (code === "access_denied") {
    return new SignInError("refused", code, "The identity provider did not let you sign in.");
  }
  return code === "server_error" || code === "temporarily_unavailable"
    ? unavailable(code)
    : broken(wordOf(code));
}

function broken(reason: string): SignInError {
  return new SignInError(
    "broken_attempt",
    reason,
    "The identity provider's answer does not belong to a sign-in that this browser began, or it came too late.",
  );
}

function unavailable(reason: string): SignInError {
  return new SignInError(
    "provider_unavailable",
    reason,
    "The identity provider cannot be reached or does not work right now. API keys go on working.",
  );
}

/** An error code of the standard; anything else may be whatever the other side liked to write. */
function wordOf(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "other";
}

function systemCodeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at.code;
  }
  return "unknown";
}
