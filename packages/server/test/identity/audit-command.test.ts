import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiKeyResponse, AuditEvent } from "@presage/contract";
import { runPresage } from "../support/presage/run-presage.ts";

let directory: string;
let userId: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-audit-"));
  await presage("migrate");
  userId = (
    await presage("users", "add", "Ada", "--email", "ada@example.org", "--role", "viewer")
  ).stdout.trim();
});
afterAll(() => rm(directory, { recursive: true }));

const presage = (...args: string[]) =>
  runPresage(args, {
    PRESAGE_DATABASE_URL: `sqlite:${join(directory, "audit.db")}`,
    PRESAGE_PUBLIC_URL: "http://presage.example",
  });

async function events(...args: string[]): Promise<AuditEvent[]> {
  const { stdout } = await presage("audit", "--json", ...args);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => AuditEvent.parse(JSON.parse(line)));
}

test("what the command line does is in the audit log, and nothing of a command that fails", async () => {
  expect((await presage("users", "role", "ada@example.org", "member")).stdout).toBe(
    "The user is a member now.\n",
  );
  const made = await presage("keys", "create", "--name", "k", "--scopes", "read,predict", "--user", userId);
  expect(made.stdout.trim()).toMatch(/^psg_/);
  const key = ApiKeyResponse.parse(
    JSON.parse((await presage("keys", "list", "--json", "--user", userId)).stdout),
  );
  expect(key.scopes).toEqual(["predict", "read"]);
  expect(await presage("users", "role", "Owner", "viewer")).toMatchObject({ code: 1 });
  expect((await presage("keys", "revoke", key.id, "--user", userId)).code).toBe(0);
  const found = await events();
  expect(found.map(({ action, object_id }) => [action, object_id])).toEqual([
    ["api_key.revoke", key.id],
    ["api_key.create", key.id],
    ["user.change_role", userId],
    ["user.create", userId],
  ]);
  for (const { actor, request_id } of found) {
    expect(actor).toMatchObject({ kind: "command_line", user_id: null, email: null, id: null });
    expect(request_id).toBe(null);
  }
  const ofUser = await events("--object", userId, "--action", "user.create", "--from", "2020-01-01");
  expect(ofUser).toEqual(found.slice(-1));
  expect(await events("--to", "2020-01-01")).toEqual([]);
  expect((await events("--limit", "2")).length).toBe(2);
  expect(await presage("audit", "--action", "everything")).toMatchObject({ code: 1, stdout: "" });
});

test("a link that signs somebody in is in the audit log without its token", async () => {
  const { stdout } = await presage("sign-in", "--user", userId);
  const [made, ...more] = await events("--action", "user.create_sign_in_link");
  expect(more).toEqual([]);
  expect(made).toMatchObject({ object_id: userId, actor: { kind: "command_line" } });
  expect(JSON.stringify(made)).not.toContain(new URL(stdout.trim()).hash.slice(1));
});

test("the last owner stays one, and a wrong role is refused", async () => {
  const { stdout } = await presage("users", "list", "--json");
  const owner = JSON.parse(stdout.split("\n")[0] ?? "") as { id: string; role: string };
  expect(owner.role).toBe("owner");
  expect(await presage("users", "role", owner.id, "viewer")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Make somebody else an owner first"),
  });
  expect(await presage("users", "role", owner.id, "admin")).toMatchObject({ code: 1 });
});
