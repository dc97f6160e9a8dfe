/** Turns a key into the only form in which it is stored and looked up. */
export type KeyDigest = (key: string) => string;

/** HMAC-SHA-256 under a secret that every process on one database shares. */
export function createKeyDigest(secret: string): KeyDigest {
  return (key) => new Bun.CryptoHasher("sha256", secret).update(key).digest("base64");
}
