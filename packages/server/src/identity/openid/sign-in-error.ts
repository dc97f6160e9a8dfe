/** What went wrong, by who can mend it: whoever tries again, whoever grants access, whoever runs the provider. */
export type SignInFailure = "broken_attempt" | "refused" | "provider_unavailable";

/** A sign-in at the identity provider that failed. The message is for the person who tried; `reason` is for the log. */
export class SignInError extends Error {
  readonly failure: SignInFailure;
  /** A word without anything of the person or the attempt in it. */
  readonly reason: string;

  constructor(failure: SignInFailure, reason: string, message: string) {
    super(message);
    this.name = "SignInError";
    this.failure = failure;
    this.reason = reason;
  }
}
