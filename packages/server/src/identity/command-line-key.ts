import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Caller } from "./caller.ts";
import type { User } from "./users/users-store.ts";

const scheme = "psc_";

/** A key of one start of a server, with which commands of its user call it. No database has it. */
export function generateCommandLineKey(): string {
  return scheme + randomBytes(32).toString("base64url");
}

export interface CommandLineAccess {
  /** Whether a key is that of this server. */
  isKey(given: string): boolean;
  /** As whom commands act: the owner, in what makes and reads runs. */
  findCaller(): Promise<Caller>;
}

/** Only the key's digest stays in memory. Without a key no command is let in. */
export function createCommandLineAccess(
  key: string | undefined,
  findOwner: () => Promise<User>,
): CommandLineAccess {
  const expected = key === undefined ? undefined : digestOf(key);
  return {
    isKey: (given) =>
      expected !== undefined && given.startsWith(scheme) && timingSafeEqual(digestOf(given), expected),
    async findCaller() {
      const { id: userId, account_id: accountId } = await findOwner();
      const proof = { kind: "command_line", scopes: ["evaluate", "read"] } as const;
      return { userId, accountId, role: "owner", proof };
    },
  };
}

function digestOf(key: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(key).digest();
}
