/** Kinds of failed sign-ins: the person can try again, needs access, or the provider must be fixed. */
export type SignInErrorKind = "broken_attempt" | "refused" | "provider_unavailable";

/** A failed sign-in at the identity provider. The message is for the person, `reason` for the log. */
export class SignInError extends Error {
  readonly kind: SignInErrorKind;
  /** A code without personal data. */
  readonly reason: string;

  constructor(kind: SignInErrorKind, reason: string, message: string) {
    super(message);
    this.name = "SignInError";
    this.kind = kind;
    this.reason = reason;
  }
}
