import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Caller } from "../http/caller.ts";
import type { User } from "./users-store.ts";

const commandLineScheme = "psc_";

/** A key of one start of a server, with which commands of its user call it. No database has it. */
export function generateCommandLineKey(): string {
  return commandLineScheme + randomBytes(32).toString("base64url");
}

export type CommandLineAccess = ReturnType<typeof createCommandLineAccess>;

/** Lets commands with the key act as the owner, in what makes and reads runs. Only the key's digest stays in memory. */
export function createCommandLineAccess(key: string | undefined, findOwner: () => Promise<User>) {
  const digestOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  const expected = key && digestOf(key);
  return {
    isKey: (given: string) =>
      !!expected && given.startsWith(commandLineScheme) && timingSafeEqual(digestOf(given), expected),
    async findCaller(): Promise<Caller> {
      const { id: userId, account_id: accountId } = await findOwner();
      const proof = { kind: "command_line", scopes: ["evaluate", "read"] } as const;
      return { userId, accountId, role: "owner", proof };
    },
  };
}
