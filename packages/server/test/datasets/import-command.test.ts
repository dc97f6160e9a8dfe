import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findLayout } from "../../src/datasets/traces/layouts.ts";
import { testKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { toLines } from "../support/resources/datasets.ts";

const presage = usePresage();
let folder: string;
let environment: Record<string, string>;

const call = { id: "c1", type: "function", function: { name: "shell", arguments: '{"cmd":"ls drawer"}' } };
const agent = {
  id: "run-1",
  messages: [
    { role: "user", content: "Find the key." },
    { role: "assistant", content: "Let me look.", tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: "key.txt\nnails" },
    { role: "assistant", content: "Found." },
  ],
  reward: 1,
};
const said = (content: string) => ({ role: "user", content });
const answered = (content: string) => ({ role: "assistant", content });
const world = { id: "walk-1", messages: [said("open fridge"), answered("The fridge is open.")] };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "presage-import-"));
  environment = {
    PRESAGE_DATABASE_URL: `sqlite:${join(folder, "presage.db")}`,
    PRESAGE_API_KEY: testKey,
  };
  await mkdir(join(folder, "runs"));
  for (const [name, text] of [
    ["runs/b.jsonl", toLines([world])],
    ["runs/a.jsonl", toLines([agent])],
    ["runs/notes.json", '{"x": 1}'],
    ["runs/READ ME.md", "# Runs\n"],
    ["runs/empty.jsonl", ""],
    ["runs/config", "[core]\n\tbare = false\n"],
    ["runs/run.log", "[INFO] 12 runs\n[INFO] 2026 is the year\n"],
    ["runs/tsconfig.json", '{\n  // Strict.\n  "strict": true\n}\n'],
    ["cut.json", '{"messages": ['],
  ] as const)
    await Bun.write(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: string[]) => runPresage(args, environment);
const file = (name: string) => join(folder, name);

test("a preview shortens every text, and shows a tab as a space", async () => {
  const long = { ...world, messages: [said(`a\tb${"c".repeat(5_000)}`), ...world.messages.slice(1)] };
  await Bun.write(file("long.jsonl"), toLines([long]));
  const { stdout } = await run("import", file("long.jsonl"), "--preview");
  expect(stdout).not.toContain("u{9}");
  expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThan(300);
});

test("a preview says what files hold, and needs no database", async () => {
  const { code, stdout, stderr } = await run("import", file("runs"), "--preview");
  const leftOut = ["READ ME.md", "config", "empty.jsonl", "notes.json", "run.log", "tsconfig.json"];
  expect([code, stderr]).toEqual([
    0,
    leftOut.map((name) => `${file(`runs/${name}`)} is left out: it has no known format.\n`).join(""),
  ]);
  for (const text of [
    "a.jsonl   openai-chat (recognised by messages with tool calls)\n  1 trajectory, 1 sample; tools: shell;",
    "all have a reward",
    "left out: 1 last message of agent, 1 text beside call",
    'first sample   run-1 step 0\n    state   Find the key.\n    action  {"input":{"cmd":"ls drawer"},"tool":"shell"}\n    next    key.txt⏎nails',
    'tags    {"source":"openai-chat"}\n',
    "b.jsonl   chat (recognised by",
  ])
    expect(stdout).toContain(text);
  expect(await Bun.file(file("presage.db")).exists()).toBe(false);
});

test("files of several layouts become one revision, here and on a server alike", async () => {
  const digests: unknown[] = [];
  for (const place of [[], ["--server", presage.url]]) {
    const imported = await run("import", file("runs"), "--name", "shop", "--json", ...place);
    expect(imported.code).toBe(0);
    const { digest, dataset_id: _, ...rest } = JSON.parse(imported.stdout);
    expect(rest).toEqual({
      revision: 1,
      format: "mixed",
      files: [
        { file: "a.jsonl", format: "openai-chat" },
        { file: "b.jsonl", format: "chat" },
      ],
      trajectories: 2,
      samples: 2,
      left_out: { last_message_of_agent: 1, text_beside_call: 1 },
      redacted: {},
      faults: [],
    });
    digests.push(digest);
    const again = await run("import", file("runs"), "--name", "shop", ...place);
    expect(again.stdout).toContain("Revision 1 of shop: 2 samples in 2 trajectories.");
    const more = ["--append", "--split-by", "task", "--test", "1"];
    const appended = await run("import", file("runs/a.jsonl"), "--name", "shop", ...more, ...place);
    expect(appended.stdout).toContain("Revision 2 of shop: 3 samples in 3 trajectories.");
  }
  expect(digests[0]).toBe(digests[1]);
});

test("a conversation of OpenHands is a folder of events, wherever it is given from", async () => {
  const events: object[] = JSON.parse(findLayout("openhands").about.example);
  for (const id of ["one", "other"]) {
    await Bun.write(file(`hands/${id}/base_state.json`), "{}");
    for (const [at, event] of events.entries())
      await Bun.write(file(`hands/${id}/events/event-0000${at}-x.json`), JSON.stringify(event));
  }
  const parts = ["one", "other"].flatMap((id) =>
    events.map((_, at) => file(`hands/${id}/events/event-0000${at}-x.json`)),
  );
  for (const paths of [[file("hands")], [file("hands/one"), file("hands/other")], parts]) {
    const { stdout, stderr } = await run("import", ...paths, "--name", "hands");
    expect(stderr).toBe("");
    expect(Array.from(stdout.matchAll(/first sample +(\S+) step 0/g), ([, id = ""]) => id)).toEqual([
      "one",
      "other",
    ]);
    expect(stdout).toContain(": 2 samples in 2 trajectories.");
  }
});

test("conversations of several files that have the same ids are told apart", async () => {
  const [one, other] = [file("one.jsonl"), file("other.jsonl")];
  const { id: _, ...unnamed } = world;
  for (const path of [one, other]) await Bun.write(path, toLines([world, unnamed]));
  const imported = await run("import", one, other, "--name", "walks");
  expect([imported.code, imported.stderr]).toEqual([0, ""]);
  const exported = await run("datasets", "export", "walks");
  const ids = exported.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).trajectory_id);
  expect(ids).toEqual(["walk-1", "line-2", "walk-1/2", "line-2/2"]);
  await Bun.write(other, toLines([world, world]));
  const refused = await run("import", one, other, "--name", "more");
  expect(refused.stderr).toBe(`${other}: line 2: step: An earlier line has step 0 of trajectory walk-1/2\n`);
});

test("what cannot be imported is refused with its place, and leaves nothing", async () => {
  for (const place of [[], ["--server", presage.url]]) {
    const refused = async (...args: string[]) => {
      const { code, stderr } = await run(...args, ...place);
      return [code, stderr];
    };
    const cut = file("cut.json");
    expect(await refused("import", cut, "--name", "none")).toEqual([
      1,
      `${cut}: document 1: The JSON is cut off\n`,
    ]);
    expect(await refused("import", file("runs/notes.json"), "--name", "none")).toEqual([
      1,
      expect.stringMatching(/notes.json: No known format: its keys are "x"\nnpx presage formats lists/),
    ]);
    const share = ["--split-by", "task", "--test", "0.7", "--calibration", "0.5"];
    expect(await refused("import", file("runs/a.jsonl"), "--name", "none", ...share)).toEqual([
      1,
      expect.stringContaining("The shares are more than 1 together"),
    ]);
    expect((await run("datasets", "list", ...place)).stdout).not.toContain("none");
  }
  expect(await run("import", file("runs/a.jsonl"))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--name NAME"),
  });
});

test("an account's export is told from traces", async () => {
  // JSON may contain both line separators unescaped, and only a line feed ends a line.
  await Bun.write(
    file("odd.jsonl"),
    toLines([{ id: "odd", messages: [said("a\u2028b"), answered("c\u2029d")] }]),
  );
  await run("import", file("odd.jsonl"), "--name", "odd");
  await run("worlds", "create", "odd", "--examples", "odd");
  const world = (await run("worlds", "export", "odd")).stdout.trim().split("\n");
  expect(world.map((line) => Object.keys(JSON.parse(line))[0])).toEqual(["world", "dataset_sample_id"]);
  const exported = file("account.jsonl");
  expect((await run("account", "export", exported)).code).toBe(0);
  const refused = await run("import", exported, "--name", "shop");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("account import")]);
  const elsewhere = await run("import", exported, "--server", presage.url);
  expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining("takes only --account")]);
  const both = await run("import", exported, "--name", "shop", "--account", "shop");
  expect([both.code, both.stderr]).toEqual([1, expect.stringContaining("--account is for an account")]);
  const fresh = { PRESAGE_DATABASE_URL: `sqlite:${file("other.db")}` };
  await runPresage(["migrate"], fresh);
  const earlier = await runPresage(["import", exported], fresh);
  expect([earlier.code, earlier.stderr]).toEqual([0, expect.stringContaining("is now: ")]);
  const listed = await runPresage(["datasets", "list"], fresh);
  for (const name of ["shop", "odd"]) expect(listed.stdout).toContain(name);
});

test("a link in a folder is followed to a file, and named where it leads elsewhere", async () => {
  const links = file("links");
  await mkdir(links);
  await symlink(file("runs/b.jsonl"), join(links, "b.jsonl"));
  for (const [name, to] of [
    ["folder", file("runs")],
    ["gone", file("gone.jsonl")],
  ] as const)
    await symlink(to, join(links, name));
  const { code, stdout, stderr } = await run("import", links, "--preview");
  expect([code, stdout]).toEqual([0, expect.stringContaining("1 trajectory, 1 sample")]);
  for (const name of ["folder", "gone"])
    expect(stderr).toContain(`${join(links, name)} is left out: it is a link, but to no file.`);
});

test("every layout is listed", async () => {
  const shown = await run("formats");
  expect(shown.stdout).toContain(`\natif:\n  ${findLayout("atif").about.example}\n`);
  const listed = await run("formats", "--json");
  expect(
    listed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).format),
  ).toContain("openai-chat");
});
