import { EncryptJWT, jwtDecrypt } from "jose";
import { attemptLifetimeS, SignInAttempt } from "./sign-in-attempt.ts";

/** Encrypts an attempt, so that the browser that stores it can neither read nor change it. */
export interface AttemptSeal {
  close(attempt: SignInAttempt): Promise<string>;
  /** Undefined if it is too old or was not sealed with this secret. */
  open(sealed: string): Promise<SignInAttempt | undefined>;
}

export function createAttemptSeal(secret: string): AttemptSeal {
  const key = new Bun.CryptoHasher("sha256", secret).update("sign-in attempt").digest();
  const [alg, enc] = ["dir", "A256GCM"];
  return {
    async close(attempt) {
      return await new EncryptJWT(attempt)
        .setProtectedHeader({ alg, enc })
        .setExpirationTime(`${attemptLifetimeS} seconds`)
        .encrypt(key);
    },
    async open(sealed) {
      const options = {
        keyManagementAlgorithms: [alg],
        contentEncryptionAlgorithms: [enc],
        requiredClaims: ["exp"],
      };
      const opened = await jwtDecrypt(sealed, key, options).catch(() => undefined);
      return SignInAttempt.safeParse(opened?.payload).data;
    },
  };
}
