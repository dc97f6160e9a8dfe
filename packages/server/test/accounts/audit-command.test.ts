import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiKeyResponse, type AuditAction, AuditEvent, RealityCheck } from "@presage/contract";
import { expectEventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { slowTest } from "../support/whole-run.ts";

let directory: string;
let userId: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-audit-"));
  await Bun.write(prices(), "currency: USD\nmodels:\n  any: { prompt: 1, completion: 1 }\n");
  await presage("migrate");
  userId = (
    await presage("users", "add", "Ada", "--email", "ada@example.org", "--role", "viewer")
  ).stdout.trim();
});
afterAll(() => rm(directory, { recursive: true }));

const databaseUrl = () => `sqlite:${join(directory, "audit.db")}`;
const prices = () => join(directory, "prices.yaml");
const presage = (...args: string[]) =>
  runPresage(args, {
    PRESAGE_DATABASE_URL: databaseUrl(),
    PRESAGE_PUBLIC_URL: "http://presage.example",
    PRESAGE_PRICES: prices(),
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
    stderr: expect.stringContaining("Make someone else an owner first"),
  });
  expect(await presage("users", "role", owner.id, "admin")).toMatchObject({ code: 1 });
});

const reads = "reads";
/** Commands that change nothing in an account, or whose changes are themselves records. */
const unrecorded: Record<string, string> = {
  serve: "serves",
  config: reads,
  doctor: reads,
  report: reads,
  compare: reads,
  audit: reads,
  "keys list": reads,
  "users list": reads,
  "datasets list": reads,
  "datasets show": reads,
  "runs list": reads,
  "runs show": reads,
  "worlds list": reads,
  "worlds show": reads,
  "worlds diff": reads,
  "worlds preview": reads,
  "worlds export": reads,
  "worlds threshold": reads,
  "goals list": reads,
  "budget show": reads,
  calibrate: reads,
  agree: reads,
  correct: reads,
  play: "predictions are their own records",
  migrate: "is about the schema",
  backup: "writes a file",
  "account export": "writes a file",
  "datasets export": "writes a file",
  "runs export": "writes a file",
  "episodes export": "writes a file",
  formats: reads,
  restore: "puts another database in the place of this one, with the log that is in it",
  "account import": "brings the log of the account with it, which had no data before",
  "results repair-times": "belongs to no account: it mends what a wrong clock did to all",
  predict: "a prediction is its own record",
  evaluate: "results are their own records",
};

slowTest("every command that changes something leaves its event", async () => {
  const recorded = new Set<string>();
  async function change(command: string, args: string[], actions: AuditAction[]): Promise<string> {
    const known = new Set((await events()).map(({ id }) => id));
    const { code, stdout, stderr } = await presage(...command.split(" "), ...args);
    expect([command, code, stderr]).toEqual([command, 0, expect.any(String)]);
    const added = (await events()).filter(({ id }) => !known.has(id));
    expect([command, added.map(({ action }) => action).sort()]).toEqual([command, actions]);
    for (const { actor } of added) expect(actor.kind).toBe("command_line");
    recorded.add(command);
    return stdout.trim();
  }
  const user = await change("users add", ["Kim", "--role", "member"], ["user.create"]);
  await change("users role", [user, "viewer"], ["user.change_role"]);
  await change("sign-in", ["--user", user], ["user.create_sign_in_link"]);
  await change("keys create", ["--name", "k", "--user", user], ["api_key.create"]);
  const listed = await presage("keys", "list", "--json", "--user", user);
  const { id } = ApiKeyResponse.parse(JSON.parse(listed.stdout));
  await change("keys update", [id, "--rate-limit-rpm", "5", "--user", user], ["api_key.update"]);
  await change("keys revoke", [id, "--user", user], ["api_key.revoke"]);
  await change("budget set", ["5"], ["budget.set"]);
  await change("budget clear", [], ["budget.remove"]);
  await change("goals set", ["r", "--evaluator", "exact-match", "--pass-rate", "1"], ["goal.set"]);
  await change("goals remove", ["r"], ["goal.remove"]);
  await presage("keys", "create", "--name", "another", "--user", user);
  await change("users end", [user], ["user.end_access"]);
  await change("users erase", [user, "--yes"], ["user.erase"]);

  const line = { trajectory_id: "t", step: 0, interaction: { state: "s", action: "a" }, next_state: "s" };
  const file = join(directory, "lines.jsonl");
  await Bun.write(file, JSON.stringify(line));
  const made: AuditAction[] = ["dataset.add_revision", "dataset.create"];
  await change("datasets import", ["--name", "d", "--file", file], made);
  const target = ["--dataset", "d", "--baseline", "no-change", "--evaluator", "exact-match"];
  await change("run", [...target, "--name", "r"], ["run.create"]);
  // A run that has ended cannot be cancelled, so a server creates one that waits.
  const server = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl() });
  const { data } = (await (await server.call("GET", "/v1/datasets")).json()) as { data: { id: string }[] };
  const waiting = { dataset_id: data[0]?.id, target: { predictions: "imported" } };
  const evaluators = [{ evaluator: "exact-match" }];
  for (const name of ["waiting", "ended"]) {
    const created = await server.call("POST", "/v1/runs", { ...waiting, name, evaluators });
    const { id } = (await created.json()) as { id: string };
    await server.call("POST", `/v1/runs/${id}/pause`);
  }
  const begun = await server.call("POST", "/v1/episodes", { environment: "sandbox", index: 0 });
  const { episode_id } = (await begun.json()) as { episode_id: string };
  await server.call("POST", `/v1/episodes/${episode_id}/step`, { action: "activate lantern" });
  const stop = [{ output_contains: "won", outcome: "success" }];
  await server.call("POST", "/v1/environments", { name: "recorded", stop });
  const recording = { environment: "recorded", dataset_id: data[0]?.id };
  const replayed = RealityCheck.parse(
    await (await server.call("POST", "/v1/reality-checks", recording)).json(),
  );
  await expectEventually(async () => {
    const shown = await server.call("GET", `/v1/reality-checks/${replayed.id}`);
    return RealityCheck.parse(await shown.json()).episodes;
  }, 1);
  await server.stop();
  await change("runs resume", ["waiting"], ["run.resume"]);
  await change("runs finish", ["ended"], ["run.finish"]);
  await change("runs cancel", ["waiting"], ["run.cancel"]);
  await change("runs delete", ["waiting"], ["run.delete"]);
  await change("datasets from-episodes", ["--name", "e", "--environment", "sandbox"], made);
  await change("datasets from-reality", [replayed.id, "--name", "real"], made);
  await change("datasets delete", ["e"], ["dataset.delete"]);
  await change("import", [file, "--name", "i"], made);
  await change("worlds create", ["w", "--examples", "i"], ["world.create"]);
  await change("worlds evaluate", ["w"], ["run.create", "run.create", "run.create"]);
  await change("worlds revise", ["w", "--k", "1", "--confidence", "retrieval"], ["world.revise"]);
  const many = Array.from({ length: 50 }, (_, step) => JSON.stringify({ ...line, step }));
  await Bun.write(file, many.join("\n"));
  await presage("import", file, "--name", "many");
  const ofMany = ["--dataset", "many", "--world", "w", "--evaluator", "exact-match"];
  await presage("run", ...ofMany, "--name", "to-calibrate-on");
  await change("label", ["to-calibrate-on", "--draw", "1"], ["evaluation_result.draw"]);
  await Bun.write(file, JSON.stringify({ result_id: "1", annotator: "ada", label: "pass" }));
  await change("label", [file], ["evaluation_result.label"]);
  await change("worlds calibrate", ["w", "--run", "to-calibrate-on"], ["world.revise"]);
  await Bun.write(file, (await presage("worlds", "export", "w")).stdout);
  await change("worlds import", [file, "--name", "w2"], ["world.create"]);
  await Bun.write(file, JSON.stringify({ task_id: "t", simulated: true, real: false }));
  await change("reality", ["--pairs", file, "--name", "lab"], ["reality_check.create"]);
  await change("worlds archive", ["w"], ["world.revise"]);
  await change("worlds delete", ["w"], ["world.delete"]);

  const commands = await commandsOf([]);
  expect(commands.filter((name) => !recorded.has(name) && !Object.hasOwn(unrecorded, name))).toEqual([]);
  expect([...recorded, ...Object.keys(unrecorded)].filter((name) => !commands.includes(name))).toEqual([]);
});

/** The commands without subcommands, as help lists them. */
async function commandsOf(path: string[]): Promise<string[]> {
  const { stdout } = await presage(...path, "--help");
  const [, list = ""] = /^Commands:\n((?: .*\n)*)/m.exec(stdout) ?? [];
  const names = [...list.matchAll(/^ {2}(\S+)/gm)].flatMap(([, name = ""]) =>
    name === "help" ? [] : [name],
  );
  if (names.length === 0) return [path.join(" ")];
  const found: string[] = [];
  for (const name of names) found.push(...(await commandsOf([...path, name])));
  return found;
}
