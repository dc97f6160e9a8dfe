import { z } from "zod";

/** How long somebody may take at the provider. */
export const attemptLifetimeS = 600;

/** What must be remembered, in the browser that set out, until the provider sends it back. */
export const SignInAttempt = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
});
export type SignInAttempt = z.infer<typeof SignInAttempt>;
