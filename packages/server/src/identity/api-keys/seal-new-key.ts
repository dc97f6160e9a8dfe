import type { ApiKey } from "./api-keys-store.ts";

export type NewlyMadeKey = ApiKey & { key: string };

export interface NewKeySeal {
  close(made: NewlyMadeKey): Promise<string>;
  /** Undefined for what another credential closed. */
  open(sealed: string): Promise<NewlyMadeKey | undefined>;
}

/**
 * Encrypts a new key for whoever asked for it, so that the answer can be given again although the key is stored nowhere. The
 * encryption's key comes from the credential that made the call, of which the database has a digest only: a copy of the
 * database opens nothing.
 */
export async function createNewKeySeal(credential: string, requestId: string): Promise<NewKeySeal> {
  const { CompactEncrypt, compactDecrypt } = await import("jose");
  const [alg, enc] = ["dir", "A256GCM"];
  const secret = new Bun.CryptoHasher("sha256", credential).update(`new API key: ${requestId}`).digest();
  return {
    async close(made) {
      return await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(made)))
        .setProtectedHeader({ alg, enc })
        .encrypt(secret);
    },
    async open(sealed) {
      const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] };
      const opened = await compactDecrypt(sealed, secret, options).catch(() => undefined);
      if (opened === undefined) return undefined;
      // Only whoever has the secret could have written it.
      return JSON.parse(new TextDecoder().decode(opened.plaintext)) as NewlyMadeKey;
    },
  };
}
