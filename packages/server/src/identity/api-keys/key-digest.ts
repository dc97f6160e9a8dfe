/** Makes the only form in which a key is stored and looked up. */
export type KeyDigest = (key: string) => string;

/** HMAC-SHA-256 with a secret that all processes on the database share. */
export function createKeyDigest(secret: string): KeyDigest {
  return (key) => new Bun.CryptoHasher("sha256", secret).update(key).digest("base64");
}
