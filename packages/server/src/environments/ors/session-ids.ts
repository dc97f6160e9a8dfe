import { timingSafeEqual } from "node:crypto";

const idPattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{22})$/;
const taskPattern = /^(\d{1,9})-([0-9a-f-]{36})\.([\w-]{22})$/;

/** Makes and checks the ids of sessions and of their calls, so that neither is stored before it is used. */
export interface SessionIds {
  /** A new session of an account. */
  newSession(accountId: string): string;
  /** The id under which a session is stored; undefined if it is not this account's. */
  storedIdOf(accountId: string, sessionId: string): string | undefined;
  /** A new call that takes this step of a session. */
  newTask(storedId: string, step: number): string;
  /** The step that a call takes; undefined if it is not this session's. */
  stepOf(storedId: string, taskId: string): number | undefined;
}

/** Ids are random, with a MAC by a secret that all processes on the database share. */
export function createSessionIds(secret: string): SessionIds {
  /** 128 bits of it. */
  function macOf(...parts: readonly string[]): string {
    const hasher = new Bun.CryptoHasher("sha256", secret).update(JSON.stringify(parts));
    return hasher.digest("base64url").slice(0, 22);
  }

  function isMac(given: string, ...parts: readonly string[]): boolean {
    return timingSafeEqual(Buffer.from(given), Buffer.from(macOf(...parts)));
  }

  return {
    newSession(accountId) {
      const id = Bun.randomUUIDv7();
      return `${id}.${macOf("session", accountId, id)}`;
    },
    storedIdOf(accountId, sessionId) {
      const [, id, mac] = idPattern.exec(sessionId) ?? [];
      if (id === undefined || mac === undefined) return undefined;
      return isMac(mac, "session", accountId, id) ? id : undefined;
    },
    newTask(storedId, step) {
      const name = crypto.randomUUID();
      return `${step}-${name}.${macOf("task", storedId, String(step), name)}`;
    },
    stepOf(storedId, taskId) {
      const [, step, name, mac] = taskPattern.exec(taskId) ?? [];
      if (step === undefined || name === undefined || mac === undefined) return undefined;
      return isMac(mac, "task", storedId, step, name) ? Number(step) : undefined;
    },
  };
}
