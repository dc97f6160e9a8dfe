import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { presageCommand } from "../support/presage/main-file.ts";
import { testKey } from "../support/presage/presage.ts";
import { type Ran, runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { toLines } from "../support/resources/datasets.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { isWholeRun } from "../support/whole-run.ts";

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });

let directory = "";
let database: Record<string, string> = {};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-worlds-"));
  database = {
    PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}`,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_API_KEY: testKey,
  };
  await Bun.write(join(directory, "shop.jsonl"), toLines(lines));
  await Bun.write(join(directory, "shop.md"), "You are a shop.\nYou are terse.");
});
afterAll(() => rm(directory, { recursive: true }));

/** A trajectory's side occurs only in its own answers. */
const lines = ["train", "train", "test"].flatMap((split, trajectory) =>
  ["lamp", "cup"].map((item, step) => ({
    ...{ trajectory_id: `t-${trajectory}`, step },
    interaction: { state: `Cart ${trajectory}.${step}`, action: `add ${item}` },
    next_state: `Added the ${item}. ${split}`,
    tags: { split },
  })),
);

const everywhere = [["the configured database"], ["a server"]] as const;
/** On the configured database each command starts a whole server, which takes twice the processor time. */
const places = isWholeRun ? everywhere : everywhere.slice(1);

function commandsIn(place: string) {
  const flags = place === "a server" ? ["--server", presage.url] : [];
  return (...args: string[]): Promise<Ran> => runPresage([...args, ...flags], database);
}

async function playWith(input: string, place: string, ...args: string[]): Promise<Ran> {
  const flags = place === "a server" ? ["--server", presage.url] : [];
  const child = Bun.spawn([...presageCommand, "play", ...args, ...flags], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", ...database },
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

test.each(places)("traces become a world that is played, in %s", async (place) => {
  const run = commandsIn(place);
  expect((await run("import", join(directory, "shop.jsonl"), "--name", "shop")).code).toBe(0);
  const made = await run("worlds", "create", "shop", "--examples", "shop");
  expect([made.code, made.stdout]).toEqual([
    0,
    "shop@1\nanswered by the records alone, adapted\n4 examples of shop@1, with 2 distinct actions in 2 trajectories\n",
  ]);
  expect(made.stderr).toContain("Only samples with the tag split=train are examples");
  const where = place === "a server" ? ` --server ${presage.url}` : "";
  expect(made.stderr).toEndWith(`To act in it:\n  npx presage play shop${where}\n`);

  const played = await playWith("add vase\n\nadd rug\n", place, "shop", "--explain");
  expect([played.code, played.stdout]).toEqual([0, "Added the vase. train\nAdded the rug. train\n"]);
  expect(played.stderr).toContain("It begins as t-2/0 did, whose trajectory is no example.\nCart 2.0\n");
  expect(played.stderr).toMatch(/^0\.\d{3} {2}t-[01]\/[01]\n {7}add (lamp|cup) → Added the \1\. train$/m);

  const own = await playWith("add vase\n", place, "shop", "--sample", "t-0/1", "--json");
  expect(JSON.parse(own.stdout)).toMatchObject({
    action: "add vase",
    world: { name: "shop", revision: 1, answered_by: "retrieval" },
  });
  expect(own.stderr).toEndWith("Cart 0.1\n");
  const given = await playWith("add vase\n", place, "shop@1", "--state", "Empty.");
  expect([given.stdout, given.stderr]).toEqual(["Added the vase. train\n", "Empty.\n"]);
  expect(await playWith("", place, "shop", "--sample", "t-9/0")).toMatchObject({
    code: 1,
    stderr: "The world's dataset has no sample t-9/0.\n",
  });
});

test.each(places)("an action without output is followed by another, in %s", async (place) => {
  const run = commandsIn(place);
  const line = { trajectory_id: "quiet", step: 0, next_state: "" };
  await Bun.write(
    join(directory, "quiet.jsonl"),
    toLines([{ ...line, interaction: { state: "A shell.", action: "touch Action: key" } }]),
  );
  await run("import", join(directory, "quiet.jsonl"), "--name", "quiet");
  await run("worlds", "create", "quiet", "--examples", "quiet");
  const input = "touch Action: key\ntouch Action: key\n";
  const played = await playWith(input, place, "quiet", "--state", "A shell.", "--json");
  expect([played.code, played.stderr]).toEqual([0, "A shell.\n"]);
  const said = played.stdout.trim().split("\n");
  expect(said.map((one) => JSON.parse(one).response.content)).toEqual(["", ""]);
  const explained = await playWith(input, place, "quiet", "--state", "A shell.", "--explain");
  expect(explained.stderr).toContain("\n       touch Action: key →");
});

test.each(places)("revisions of a world are made, told apart and hidden, in %s", async (place) => {
  const run = commandsIn(place);
  const instructions = join(directory, "shop.md");
  const revised = await run(
    ...["worlds", "revise", "shop", "--model", "default", "--k", "1", "--instructions", instructions],
  );
  const differences = [
    "instructions: 2 lines added, 0 removed",
    "  + You are a shop.",
    "  + You are terse.",
    "model.kind: retrieval → none",
    "model.deployment: none → default",
    "retrieval.k: 8 → 1",
  ];
  expect(revised.stdout.trimEnd().split("\n").sort()).toEqual(differences.toSorted());
  expect((await run("worlds", "diff", "shop@1", "shop@2")).stdout).toBe(revised.stdout);
  expect((await run("worlds", "diff", "shop@2", "shop")).stdout).toBe("They are the same.\n");
  const kept = await run("worlds", "revise", "shop", "--exclude-by", "tag:task");
  expect(kept.stdout).toBe("retrieval.exclude_by: trajectory → tag:task\n");

  const step = ["--state", "Empty.", "--action", "add vase"];
  const preview = await run("worlds", "preview", "shop", ...step);
  expect(preview.stdout).toStartWith("── system\nYou are a shop.\nYou are terse.\n── user\nState: Cart");
  expect(preview.stdout).toEndWith("── user\nState: Empty.\n\nAction: add vase\n");
  const recorded = await run("worlds", "preview", "shop", "--sample", "t-0/0");
  expect(recorded.stdout).toStartWith("── system\nYou are a shop.\nYou are terse.\n");
  expect(await run("worlds", "preview", "shop", "--state", "Empty.")).toMatchObject({
    code: 1,
    stderr: "preview needs --state and --action, or --sample\n",
  });
  upstream.answer = () => Response.json(completion("A vase."));
  const predicted = await run("predict", "--world", "shop", "--explain", ...step);
  expect([predicted.stdout, predicted.stderr]).toEqual(["A vase.\n", preview.stderr]);
  const shown = JSON.parse((await run("worlds", "show", "shop@2", "--json")).stdout);
  expect(shown).toMatchObject({ revision: 2, config: { retrieval: { k: 1 } } });
  expect((await run("worlds", "show", "shop")).stdout).toContain("\nanswered by default\n");

  expect((await run("worlds", "archive", "shop")).stdout).toBe("Archived shop.\n");
  expect((await run("worlds", "list")).stdout).not.toContain("shop");
  await run("worlds", "archive", "shop", "--undo");
  expect((await run("worlds", "list")).stdout).toMatch(/^shop@3 +default +4 +shop@1 /m);

  // Settings that no option names stay, next to the dataset and the deployment that options name.
  const config = {
    examples: { dataset: "shop", revision: 1, split: "train", exclude_errors: true, required: false },
    model: { deployment: "default", params: { temperature: 0.5 }, fallback: "retrieval" },
  };
  if (place !== "a server") return;
  expect((await presage.call("POST", "/v1/worlds", { name: "detailed", ...config })).status).toBe(201);
  const again = await run("worlds", "revise", "detailed", "--examples", "shop", "--model", "default");
  expect([again.code, again.stdout]).toEqual([0, "\n"]);
  // A key that may predict needs no other scope.
  const made = await presage.call("POST", "/v1/api-keys", { name: "p", scopes: ["predict"] });
  const { key } = (await made.json()) as { key: string };
  const server = ["--server", presage.url];
  const asked = await runPresage(["predict", "--world", "shop", "--explain", ...step, ...server], {
    ...database,
    PRESAGE_API_KEY: key,
  });
  expect([asked.code, asked.stdout]).toEqual([0, "A vase.\n"]);
  expect(asked.stderr).toMatch(/^0\.\d{3} {2}example 1$/m);
});

test.each(places)(
  "a file is predicted through a world without each line's own trajectory, in %s",
  async (place) => {
    const run = commandsIn(place);
    await run("worlds", "create", "all", "--examples", "shop", "--split", "test");
    const { code, stdout, stderr } = await run(
      ...["predict", "--world", "all", "--file", join(directory, "shop.jsonl"), "--json"],
    );
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).prediction.response.content);
    expect(code).toBe(0);
    // The lines of t-2 have no example, so the state is the answer.
    expect(answers).toEqual([
      ...["Added the lamp. test", "Added the cup. test", "Added the lamp. test", "Added the cup. test"],
      ...["Cart 2.0", "Cart 2.1"],
    ]);
    expect(stderr).toContain("6 predictions, 0 failures");
    expect((await run("worlds", "delete", "all")).stdout).toBe("Deleted all.\n");
  },
);

test.each(places)(
  "a file's line has no example of its own task where the world says so, in %s",
  async (place) => {
    const run = commandsIn(place);
    const file = join(directory, "tasks.jsonl");
    const recorded = ["a", "a", "b"].map((task, trajectory) => ({
      ...{ trajectory_id: `k-${trajectory}`, step: 0, tags: { task } },
      interaction: { state: "Start.", action: "open box" },
      next_state: `A box of ${task}.`,
    }));
    await Bun.write(file, toLines(recorded));
    expect(await run("import", file, "--name", "chores")).toMatchObject({ code: 0 });
    const made = await run("worlds", "create", "chores", "--examples", "chores", "--exclude-by", "tag:task");
    expect(made).toMatchObject({ code: 0 });
    const { stdout } = await run("predict", "--world", "chores", "--file", file, "--json");
    const answers = stdout.trimEnd().split("\n");
    expect(answers.map((line) => JSON.parse(line).prediction.response.content)).toEqual([
      ...["A box of b.", "A box of b.", "A box of a."],
    ]);
  },
);

test.each(places)("what cannot be is refused, in %s", async (place) => {
  const run = commandsIn(place);
  const refusals: [string[], string][] = [
    [["create", "x", "--examples", "none"], "There is no dataset none.\n"],
    [
      ["create", "x", "--examples", "shop", "--k", "65"],
      "retrieval.k: Input should be less than or equal to 64",
    ],
    [["create", "X"], "name: Names have 1 to 63 lower-case letters"],
    [["create", "x", "--model", "none"], "There is no deployment of this name"],
    [
      ["create", "x", "--model", "default", "--retrieval", "nearest"],
      "--model cannot be combined with --retrieval",
    ],
    [["create", "x", "--examples", "shop@9", "--split", "train"], "The dataset has no revision 9"],
    [["revise", "shop"], "revise needs an option that changes something"],
    [["show", "shop@99"], "The world shop has no revision 99"],
    [["delete", "none"], "There is no such world."],
  ];
  for (const [args, message] of refusals) {
    const { code, stderr } = await run("worlds", ...args);
    expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining(message)]);
  }
  const explained = await run("predict", "--explain", "--state", "a", "--action", "b");
  expect([explained.code, explained.stderr]).toEqual([1, "--explain needs --world\n"]);
});

test("what has the same tag is on one side of a split, also in a later import", async () => {
  const run = commandsIn("the configured database");
  const tagged = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...{ trajectory_id: `s-${index}`, step: 0, next_state: "n" },
      interaction: { state: "s", action: "a" },
      tags: { site: `site ${index % 20}` },
    }));
  const file = join(directory, "tagged.jsonl");
  const split = ["--split-by", "tag:site", "--test", "0.4", "--calibration", "0.3"];
  const sides: Map<string, string>[] = [];
  for (const count of [40, 80]) {
    await Bun.write(file, toLines(tagged(count)));
    expect((await run("import", file, "--name", "tagged", ...split)).code).toBe(0);
    const { stdout } = await run("datasets", "export", "tagged");
    const tags = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).tags);
    expect(tags).toHaveLength(count);
    const ofSite = new Map<string, string>(tags.map((one) => [one.site, one.split]));
    expect(tags.every(({ site, split }) => ofSite.get(site) === split)).toBe(true);
    expect([...new Set(ofSite.values())].sort()).toEqual(["calibration", "test", "train"]);
    sides.push(ofSite);
  }
  expect(sides[0]).toEqual(sides[1] ?? new Map());
  const refused = await run("import", file, "--name", "tagged", "--split-by", "site");
  expect(refused.stderr).toContain("--split-by takes trajectory, task or tag:NAME");
});

test.each(places)("a world is measured beside what is simpler, on what tests, in %s", async (place) => {
  const run = commandsIn(place);
  // The records' answers are right except for the cart's number, which differs by trajectory.
  const recorded = Array.from({ length: 20 }, (_, cart) =>
    ["lamp", "cup"].map((item, step) => ({
      ...{ trajectory_id: `g-${cart}`, step },
      interaction: { state: `Cart ${cart}`, action: `add ${item}` },
      next_state: `Added the ${item} to cart ${cart}.`,
      tags: { split: cart < 12 ? "train" : "test" },
    })),
  ).flat();
  await Bun.write(join(directory, "graded.jsonl"), toLines(recorded));
  await run("import", join(directory, "graded.jsonl"), "--name", "graded");
  // The model knows what the answer looks like only from examples.
  upstream.answer = ({ body }) => {
    const { messages } = body as { messages: { role: string; content: string }[] };
    const [, cart, item] = /Cart (\d+)[\s\S]*add (\w+)$/.exec(messages.at(-1)?.content ?? "") ?? [];
    const isShown = messages.some(({ role }) => role === "assistant");
    return Response.json(completion(isShown ? `Added the ${item} to cart ${cart}.` : "You add it."));
  };
  const measured = await run(
    ...["worlds", "create", "graded", "--examples", "graded", "--model", "default", "--evaluate"],
  );
  expect([measured.code, measured.stdout]).toEqual([
    0,
    expect.stringMatching(/Examples help: \+100\.0 points/),
  ]);
  const letters = new Map(
    [...measured.stdout.matchAll(/^([A-E]) {2}(.+?)(?: \(reference\))?$/gm)].map(([, letter, name]) => [
      name,
      letter,
    ]),
  );
  for (const [name, mean] of Object.entries({
    "graded@1": "1.000",
    "no change": "0.000",
    records: "0.000",
  }))
    expect(measured.stdout).toMatch(new RegExp(`^(exact-match)? +${letters.get(name)} +${mean} `, "m"));
  expect(measured.stderr).toContain("The samples with the tag split=test are revision 1 of graded-test.");
  expect(measured.stderr).toContain("Compared on 16 samples in 8 trajectories");
  expect((await run("worlds", "list")).stdout).not.toContain("graded-records");
  // The most frequent answer is that of the examples.
  const listed = (await run("runs", "list", "--json")).stdout.trim().split("\n");
  const frequent = listed.map((line) => JSON.parse(line)).find(({ name }) => name === "most frequent");
  expect([frequent.progress.samples, frequent.target.from.revision]).toEqual([16, 1]);
  const preference = ["--format", "preference", "--evaluator", "exact-match"];
  const pairless = await run("runs", "export", frequent.id, ...preference);
  expect([pairless.code, pairless.stdout]).toEqual([0, ""]);
  expect(pairless.stderr).toStartWith("There are no pairs: ");
  const counted = (await run("datasets", "export", "graded-examples")).stdout;
  expect(counted.trim().split("\n")).toHaveLength(24);
  expect(counted).not.toContain('"test"');

  await run("worlds", "create", "own", "--examples", "graded");
  const records = await run("worlds", "evaluate", "own");
  expect([records.code, records.stdout]).toEqual([
    0,
    expect.stringMatching(/^exact-match +A +0\.000 +reference/m),
  ]);
});

test.each(isWholeRun ? everywhere : [])(
  "a learning curve says what fewer records come to, in %s",
  async (place) => {
    const run = commandsIn(place);
    // Each thing occurs in one of the 20 training trajectories, and is asked for in the test trajectory.
    const step = (trajectory: string, thing: number, step: number, split: string) => ({
      ...{ trajectory_id: trajectory, step, tags: { split } },
      interaction: { state: "A shelf.", action: `take ${"abcdefghijklmnopqrst"[thing]?.repeat(5)}` },
      next_state: `Weight ${thing}.`,
    });
    const recorded = Array.from({ length: 20 }, (_, thing) => [
      step(`seen-${thing}`, thing, 0, "train"),
      step(`asked-${thing}`, thing, 0, "test"),
    ]);
    await Bun.write(join(directory, "shelf.jsonl"), toLines(recorded.flat()));
    await run("import", join(directory, "shelf.jsonl"), "--name", "shelf");
    await run("worlds", "create", "shelf", "--examples", "shelf", "--confidence", "retrieval");
    const { code, stdout, stderr } = await run("worlds", "evaluate", "shelf", "--curve");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ +20 +20 +100\.0 % +100\.0 %$/m)]);
    for (const [trajectories, rate] of [
      [2, "10.0 %"],
      [4, "20.0 %"],
      [10, "50.0 %"],
    ])
      expect(stdout).toMatch(
        new RegExp(`^ +${trajectories} +${trajectories} +${rate} +${rate} {2}${rate} {2}${rate}$`, "m"),
      );
    expect(stderr).toContain("With 10 of the 20 trajectories it is worse in 3 of 3 draws");
    // Only the runs of the curve remain.
    expect((await run("worlds", "show", "shelf-curve")).code).toBe(1);
    expect((await run("datasets", "list")).stdout).not.toContain("shelf-curve");
    expect((await run("runs", "list")).stdout).toContain("2 trajectories, draw 3");
  },
);

test.each(places)(
  "what somebody else made under a name that --evaluate needs is left alone, in %s",
  async (place) => {
    const run = commandsIn(place);
    await Bun.write(join(directory, "free.jsonl"), toLines(lines));
    for (const name of ["free", "free-test"])
      await run("import", join(directory, "free.jsonl"), "--name", name);
    await run("worlds", "create", "free-records", "--examples", "free");
    const measured = ["--examples", "free", "--model", "default", "--evaluate"];
    const first = await run("worlds", "create", "free", ...measured);
    expect([first.code, first.stderr]).toEqual([1, expect.stringContaining("The world free-records")]);
    expect((await run("worlds", "list")).stdout).toMatch(/^free-records@1 /m);
    await run("worlds", "delete", "free-records");
    await run("worlds", "delete", "free");
    const second = await run("worlds", "create", "free", ...measured);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("The dataset free-test")]);
  },
);

test.each(places)("a world is calibrated, and a threshold proposed for it, in %s", async (place) => {
  const run = commandsIn(place);
  // Every third answer is luck, which shows in records that do not agree.
  const recorded = (from: number) =>
    Array.from({ length: 30 }, (_, cart) =>
      [0, 1, 2, 3, 4, 5].map((step) => ({
        ...{ trajectory_id: `l-${from + cart}`, step },
        interaction: { state: `Shelf ${step}.`, action: `take item ${step}` },
        next_state: step % 3 === 0 ? `Luck ${from + cart}.` : `Taken ${step}.`,
      })),
    ).flat();
  for (const [name, from] of Object.entries({ luck: 0, held: 30 })) {
    await Bun.write(join(directory, `${name}.jsonl`), toLines(recorded(from)));
    await run("import", join(directory, `${name}.jsonl`), "--name", name);
  }
  const made = await run("worlds", "create", "luck", "--examples", "luck", "--confidence", "retrieval");
  expect(made.stdout).toContain("\nconfidence by retrieval, not calibrated\n");
  const judged = ["--world", "luck", "--evaluator", "exact-match"];
  const first = await run("run", ...judged, "--dataset", "luck", "--name", "luck-own");
  expect(first.code).toBe(0);
  const early = await run("worlds", "threshold", "luck", "--run", "luck-own");
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("luck is not calibrated")]);
  const calibrated = await run("worlds", "calibrate", "luck", "--run", "luck-own");
  expect([calibrated.code, calibrated.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^luck@2 is calibrated by logistic regression of retrieval on 180 samples in 30 trajectories; right is a pass of exact-match-\S+\n$/,
    ),
  ]);
  const stale = await run("worlds", "threshold", "luck", "--run", "luck-own");
  expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining("another calibration")]);

  await run("run", ...judged, "--dataset", "held", "--name", "luck-held");
  const proposed = await run("worlds", "threshold", "luck", "--run", "luck-held", "--risk", "0.2");
  expect([proposed.code, proposed.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^min_confidence 0\.\d+\ncoverage 66\.7 % \(120 of 180 predictions in 30 trajectories\)\nrisk 0\.0 % \(95 %: 0\.0 % to 1\d\.\d %\), 0 wrong\n$/,
    ),
  ]);
  expect(await run("worlds", "threshold", "luck", "--risk", "0.2")).toEqual(proposed);
  const least = /^min_confidence (\S+)/.exec(proposed.stdout)?.[1] ?? "";
  const revised = await run("worlds", "revise", "luck", "--min-confidence", least);
  expect(revised.stdout).toBe(`confidence.min_confidence: none → ${least}\n`);
  // Stored predictions are complete even where answers are hidden.
  const hiding = { methods: ["retrieval"], min_confidence: Number(least), hide_abstained: true };
  await presage.call("PATCH", "/v1/worlds/luck", { confidence: hiding });
  await run("run", ...judged, "--dataset", "held", "--name", "luck-hiding");
  const again = await run("worlds", "threshold", "luck", "--run", "luck-hiding", "--risk", "0.2");
  expect(again).toEqual(proposed);
  const change = ["worlds", "revise", "luck", "--k", "2"];
  expect((await run(...change)).stderr).toContain("remove min_confidence");
  const none = await run("worlds", "threshold", "luck", "--run", "luck-held");
  expect([none.code, none.stdout]).toEqual([
    0,
    expect.stringMatching(/^There is none: .*\(180 predictions in 30 /),
  ]);

  const card = await run("calibrate", "luck-held", "--evaluator", "exact-match");
  expect([card.code, card.stdout]).toEqual([0, expect.stringContaining("\nNo confidence is high enough")]);
  expect(card.stdout).toMatch(/^AUROC +1\.000 /m);
  expect(card.stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
  const parsed = JSON.parse((await run("calibrate", "luck-held", "--json")).stdout);
  expect(parsed).toMatchObject({ of: "confidence", fitted_on_it: false, auroc: { count: 180 } });

  // On another server, the dataset that it was calibrated on has another id.
  const file = join(directory, "luck.world.jsonl");
  await Bun.write(file, (await run("worlds", "export", "luck")).stdout);
  expect(await run("worlds", "import", file, "--name", "moved", "--dataset", "moved")).toMatchObject({
    code: 0,
  });
  const { pinned } = JSON.parse((await run("worlds", "show", "moved", "--json")).stdout);
  expect(pinned.calibration.dataset_id).toBe(pinned.examples.dataset_id);
  const ended = await run(...change, "--min-confidence", "none");
  expect(ended.stdout).toContain(`confidence.min_confidence: ${least} → none\n`);
});

test.each(places)("an exported world is the same one where it is imported, in %s", async (place) => {
  const run = commandsIn(place);
  const confidence = ["--confidence", "retrieval"];
  await run("import", join(directory, "shop.jsonl"), "--name", "stock");
  const made = await run("worlds", "create", "stock", "--examples", "stock", ...confidence);
  expect(made.code).toBe(0);
  const exported = await run("worlds", "export", "stock");
  const file = join(directory, "stock.world.jsonl");
  await Bun.write(file, exported.stdout);
  const again = await run("worlds", "import", file, "--name", "copy");
  expect([again.code, again.stdout]).toEqual([0, "Made copy@1.\n"]);
  // An import that is killed before its upload leaves this state.
  await presage.call("POST", "/v1/datasets", { name: "broken off" });
  const resumed = await run("worlds", "import", file, "--name", "resumed", "--dataset", "broken off");
  expect([resumed.code, resumed.stdout]).toEqual([0, "Made resumed@1.\n"]);
  const afresh = await run("worlds", "import", file, "--name", "afresh", "--dataset", "others");
  expect([afresh.code, afresh.stderr]).toEqual([0, "Its samples are revision 1 of others.\n"]);
  const pinnedBy = async (name: string) =>
    JSON.parse((await run("worlds", "show", name, "--json")).stdout).pinned;
  const { examples, prompt_digest } = await pinnedBy("stock");
  const { dataset: _, dataset_id: __, ...same } = examples;
  expect(await pinnedBy("afresh")).toMatchObject({ examples: { ...same, dataset: "others" }, prompt_digest });

  const [first = "", ...rest] = exported.stdout.split("\n");
  const reward = '"reward":{"evaluator":"exact-match","when":"last"},';
  await Bun.write(file, [first.replace('"config":{', `"config":{${reward}`), ...rest].join("\n"));
  expect((await run("worlds", "import", file, "--name", "paying")).stdout).toBe("Made paying@1.\n");
  expect((await run("worlds", "show", "paying")).stdout).toContain(
    "rewarded by exact-match on the last step\n",
  );
  expect((await run("worlds", "diff", "copy", "paying")).stdout).toBe(
    "reward.evaluator: none → exact-match\nreward.when: none → last\n",
  );
  await Bun.write(file, [first.replaceAll(examples.index_digest, "0".repeat(64)), ...rest].join("\n"));
  const refused = await run("worlds", "import", file, "--name", "third");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("pinned.examples: ")]);

  await Bun.write(file, exported.stdout.trim().split("\n").slice(0, -1).join("\n"));
  const cut = await run("worlds", "import", file, "--name", "cut", "--dataset", "cut");
  expect([cut.code, cut.stderr]).toEqual([1, `${file} does not have the samples of its world\n`]);
  await Bun.write(file, exported.stdout);
  const misnamed = await run("worlds", "import", file, "--name", "a b", "--dataset", "cut");
  expect([misnamed.code, misnamed.stderr]).toEqual([1, expect.stringContaining("name: ")]);
  expect((await run("datasets", "list")).stdout).not.toContain("cut");
});

test("Ctrl-C pauses the run that measures a world, and ends with 130", async () => {
  const run = commandsIn("a server");
  await run("import", join(directory, "shop.jsonl"), "--name", "held");
  await run("worlds", "create", "held", "--examples", "held", "--model", "default");
  const held = Promise.withResolvers<void>();
  upstream.received.length = 0;
  upstream.answer = async () => {
    await held.promise;
    return Response.json(completion(""));
  };
  const child = Bun.spawn([...presageCommand, "worlds", "evaluate", "held", "--server", presage.url], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", ...database },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  killAfterTests(child);
  await eventually(() => upstream.received.length, Boolean);
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  held.resolve();
  expect(await child.stderr.text()).toMatch(
    /Paused\. To finish it:\n {2}npx presage run --resume \S+ --server \S+\n$/,
  );
});
