import type { ApiKey } from "./api-keys-store.ts";

export type CreatedApiKey = ApiKey & { key: string };

export interface NewKeySeal {
  close(created: CreatedApiKey): Promise<string>;
  /** Undefined if another credential closed it. */
  open(sealed: string): Promise<CreatedApiKey | undefined>;
}

/**
 * Encrypts a new key for its creator, so that a repeated request gets it again although it is not stored in plain text. The
 * encryption key comes from the request's credential, of which the database only has a digest: a copy of the database does not
 * reveal keys.
 */
export async function createNewKeySeal(credential: string, requestId: string): Promise<NewKeySeal> {
  const { CompactEncrypt, compactDecrypt } = await import("jose");
  const [alg, enc] = ["dir", "A256GCM"];
  const secret = new Bun.CryptoHasher("sha256", credential).update(`new API key: ${requestId}`).digest();
  return {
    async close(created) {
      return await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(created)))
        .setProtectedHeader({ alg, enc })
        .encrypt(secret);
    },
    async open(sealed) {
      const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] };
      const opened = await compactDecrypt(sealed, secret, options).catch(() => undefined);
      if (opened === undefined) return undefined;
      // Authenticated encryption: it was written above.
      return JSON.parse(new TextDecoder().decode(opened.plaintext)) as CreatedApiKey;
    },
  };
}
