import { z } from "zod";

/** How long a sign-in at the provider may take. */
export const attemptLifetimeS = 600;

/** What the browser remembers until the provider redirects it back. */
export const SignInAttempt = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
});
export type SignInAttempt = z.infer<typeof SignInAttempt>;
