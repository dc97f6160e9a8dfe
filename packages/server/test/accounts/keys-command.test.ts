import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiKeyResponse } from "@presage/contract";
import { type Ran, runPresage } from "../support/presage/run-presage.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-keys-"));
  await runPresage(["migrate"], databaseIn(directory));
});
afterAll(() => rm(directory, { recursive: true }));

const databaseIn = (path: string) => ({ PRESAGE_DATABASE_URL: `sqlite:${join(path, "keys.db")}` });

function keys(...args: string[]): Promise<Ran> {
  return runPresage(["keys", ...args], databaseIn(directory));
}

test("keys are created, listed and revoked", async () => {
  const made = await keys("create", "--name", "training");
  expect(made.stdout.trim()).toMatch(/^psg_[0-9A-Za-z]{38}$/);
  const [headings, key] = (await keys("list")).stdout.split("\n");
  expect(headings).toMatch(/^ID +NAME +STATE +EXPIRES +LAST USED +CREATED +SCOPES +LIMITS +CAPTURE +KEY$/);
  expect(key).toMatch(
    /^[0-9a-f-]{36} {2}training {2}active {2}never {4}never {6}\d{4}-\d\d-\d\d {2}all {5}server's {2}server's {2}psg_/,
  );
  const id = key?.slice(0, 36) ?? "";
  expect(made.stderr).toContain(id);
  expect((await keys("revoke", id)).code).toBe(0);
  expect(ApiKeyResponse.parse(JSON.parse((await keys("list", "--json")).stdout))).toMatchObject({
    id,
    name: "training",
    revoked_at: expect.any(String),
  });
  expect(await keys("revoke", crypto.randomUUID())).toMatchObject({ code: 1 });
});

test("a key's limits are set, listed and changed", async () => {
  const limited = ["--rate-limit-rpm", "60", "--max-in-flight", "4"];
  const made = await keys("create", "--name", "limited", ...limited);
  const id = /Its id is (\S+)\./.exec(made.stderr)?.[1] ?? "";
  const listed = async () => {
    const lines = (await keys("list", "--json")).stdout.trim().split("\n");
    return lines.map((line) => ApiKeyResponse.parse(JSON.parse(line))).find((key) => key.id === id);
  };
  expect(await listed()).toMatchObject({ rate_limit_rpm: 60, max_in_flight: 4 });
  expect((await keys("list")).stdout).toContain(" 60/min, 4 at once ");
  expect((await keys("update", id, "--rate-limit-rpm", "none")).code).toBe(0);
  expect(await listed()).toMatchObject({ rate_limit_rpm: null, max_in_flight: 4 });
  expect(await keys("update", id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Name a setting"),
  });
  expect(await keys("update", crypto.randomUUID(), ...limited)).toMatchObject({ code: 1 });
  for (const wrong of ["0", "-1", "1.5", "many", "1000000001"])
    expect(await keys("create", "--name", "wrong", `--max-in-flight=${wrong}`)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("--max-in-flight takes a whole number from 1 to 1000000000, or none"),
    });
});

test("which of a key's predictions are kept is set, listed and changed", async () => {
  const made = await keys("create", "--name", "captured", "--capture", "0.01");
  const id = /Its id is (\S+)\./.exec(made.stderr)?.[1] ?? "";
  const listed = async () => {
    const lines = (await keys("list", "--json")).stdout.trim().split("\n");
    return lines.map((line) => ApiKeyResponse.parse(JSON.parse(line))).find((key) => key.id === id);
  };
  expect(await listed()).toMatchObject({ capture: "0.01" });
  expect((await keys("list")).stdout).toContain(" 0.01 ");
  expect((await keys("update", id, "--capture", "default")).code).toBe(0);
  expect(await listed()).toMatchObject({ capture: null });
  expect(await keys("update", id, "--capture", "some")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--capture takes off, failures, all, a share from 0 to 1"),
  });
});

describe("keys create --expires-at", () => {
  const create = (expiresAt: string) => keys("create", "--name", "a key", "--expires-at", expiresAt);
  const expiryOf = ({ stderr }: Ran) => Date.parse(/It expires at (\S+)\.\n/.exec(stderr)?.[1] ?? "");

  test.each([
    ["90m", 90],
    ["12h", 12 * 60],
    ["30d", 30 * 24 * 60],
    ["2w", 14 * 24 * 60],
  ])("%s is %d minutes from now", async (text, minutes) => {
    const earliest = Date.now();
    const expiry = expiryOf(await create(text));
    expect(expiry).toBeWithin(earliest + minutes * 60_000, Date.now() + minutes * 60_000 + 1);
  });

  test.each([
    ["2099-01-31", "2099-01-31T00:00:00.000Z"],
    ["2099-01-31T12:00:00", "2099-01-31T12:00:00.000Z"],
    ["2099-01-31T12:00:00+02:00", "2099-01-31T10:00:00.000Z"],
  ])("%s is %s", async (text, instant) => {
    expect(new Date(expiryOf(await create(text))).toISOString()).toBe(instant);
  });

  test.each([
    ["30", "--expires-at takes a time from now such as 12h"],
    ["1 month", "--expires-at takes a time from now such as 12h"],
    ["2099-02-30", "--expires-at takes a time from now such as 12h"],
    ["0d", "--expires-at: the expiry is in the past"],
    ["2020-01-01", "--expires-at: the expiry is in the past"],
    ["9000y", "--expires-at: the expiry is after the year 9999"],
    ["999999999y", "--expires-at: the expiry is after the year 9999"],
  ])("%s is refused", async (text, start) => {
    const { code, stdout, stderr } = await create(text);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toStartWith(start);
  });
});
