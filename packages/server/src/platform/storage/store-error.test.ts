import { expect, test } from "bun:test";
import { isStoreUnavailable, isStoreUncertain, storeUnavailable, storeUncertain } from "./store-error.ts";

function withCode(code: string): Error {
  return Object.assign(new Error("as the database says it"), { code });
}

test.each([
  "08006", // connection failure
  "25006", // read-only
  "25P02", // in a failed transaction
  "25P03", // idle in a transaction for too long
  "28P01", // wrong password
  "3D000", // no such database
  "40001", // serialization failure
  "40P01", // deadlock
  "42501", // insufficient privilege
  "53100", // disk full
  "53300", // too many connections
  "55P03", // lock not available
  "57014", // statement timeout
  "57P01", // admin shutdown
  "57P03", // cannot connect now
  "58030", // input or output error
  "XX001", // data corrupted
  "ERR_WORKER_NOT_RUNNING",
  "SQLITE_BUSY",
  "SQLITE_BUSY_SNAPSHOT",
  "SQLITE_CANTOPEN",
  "SQLITE_CORRUPT",
  "SQLITE_CORRUPT_VTAB",
  "SQLITE_FULL",
  "SQLITE_IOERR_WRITE",
  "SQLITE_LOCKED",
  "SQLITE_NOMEM",
  "SQLITE_NOTADB",
  "SQLITE_READONLY",
  "SQLITE_READONLY_DBMOVED",
])("%s means that the database is unavailable", (code) => {
  expect(isStoreUnavailable(withCode(code))).toBe(true);
  expect(isStoreUncertain(withCode(code))).toBe(false);
});

test.each([
  "23505", // unique violation
  "42601", // syntax error
  "42P01", // no such table
  "22021", // characters that the encoding lacks
  "54000", // beyond a limit of the program
  "XX000", // internal error
  "SQLITE_CONSTRAINT_UNIQUE",
  "SQLITE_ERROR",
  "SQLITE_TOOBIG",
  "EPIPE",
  "unauthenticated",
])("%s does not count as the database's", (code) => {
  expect(isStoreUnavailable(withCode(code))).toBe(false);
});

test("values without an error code do not count as the database's", () => {
  for (const value of [undefined, "SQLITE_BUSY", { code: "SQLITE_BUSY" }, new Error("SQLITE_BUSY")]) {
    expect(isStoreUnavailable(value)).toBe(false);
  }
});

test("only unconfirmed changes are uncertain", () => {
  const cause = new Error("no answer");
  expect([isStoreUnavailable(storeUnavailable(cause)), isStoreUncertain(storeUnavailable(cause))]).toEqual([
    true,
    false,
  ]);
  expect([isStoreUnavailable(storeUncertain(cause)), isStoreUncertain(storeUncertain(cause))]).toEqual([
    true,
    true,
  ]);
});
