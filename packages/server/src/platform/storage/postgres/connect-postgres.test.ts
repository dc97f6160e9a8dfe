import { expect, test } from "bun:test";
import { freePort } from "../../../../test/support/free-port.ts";
import { openDatabase } from "../open.ts";
import { OpenDatabaseError, storeUnavailable } from "../store-error.ts";
import { waitForPostgres } from "./connect-postgres.ts";

const refused = () => Object.assign(new Error("connect"), { code: "ECONNREFUSED" });

test("the last error is thrown once patience is over, and only the first is reported", async () => {
  const url = `postgres://presage@127.0.0.1:${await freePort()}/presage`;
  const reported: unknown[] = [];
  let tries = 0;
  const open = async () => {
    tries += 1;
    return await openDatabase(url, () => {});
  };
  const waiting = waitForPostgres(open, { patienceMs: 1_000, onDown: (error) => reported.push(error) });
  await expect(waiting).rejects.toThrow("ECONNREFUSED");
  expect(tries).toBeGreaterThan(2);
  expect(reported).toEqual([expect.any(OpenDatabaseError)]);
});

test.each<[string, Error]>([
  ["a refused connection", refused()],
  ["refusals of all addresses", new AggregateError([refused(), refused()], "")],
  [
    "a server that is starting",
    storeUnavailable(Object.assign(new Error("the database system is starting up"), { code: "57P03" })),
  ],
  ["a lost connection", storeUnavailable(new Error("Connection terminated unexpectedly"))],
  ["silence", new OpenDatabaseError(storeUnavailable(new Error("Query read timeout")))],
])("waits after %s", async (_, error) => {
  let tries = 0;
  const open = async () => {
    tries += 1;
    if (tries < 3) throw error;
    return "opened";
  };
  expect(await waitForPostgres(open, { patienceMs: 60_000, onDown() {} })).toBe("opened");
});

test.each<[string, Error]>([
  ["a wrong password", Object.assign(new Error("password authentication failed"), { code: "28P01" })],
  ["a missing database", Object.assign(new Error("no such database"), { code: "3D000" })],
  ["a missing permission", Object.assign(new Error("permission denied"), { code: "42501" })],
  [
    "an untrusted certificate",
    Object.assign(new Error("certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
  ],
  ["a server without TLS", new Error("The server does not support SSL connections")],
  ["a wrong encoding", new Error("its encoding is SQL_ASCII; Presage needs UTF8")],
])("does not wait after %s", async (_, error) => {
  let tries = 0;
  const open = async () => {
    tries += 1;
    throw new OpenDatabaseError(storeUnavailable(error));
  };
  const reported: unknown[] = [];
  const waiting = waitForPostgres(open, { patienceMs: 60_000, onDown: (first) => reported.push(first) });
  await expect(waiting).rejects.toThrow(error.message);
  expect([tries, reported]).toEqual([1, []]);
});
