import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, link as linkFile, lstat, mkdtemp, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunReport } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { presageCommand } from "../support/presage/main-file.ts";
import { testKey } from "../support/presage/presage.ts";
import { runInTerminal } from "../support/presage/run-in-terminal.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { toLines } from "../support/resources/datasets.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { passing, say } from "../support/upstream/judge.ts";
import { oneAtATime } from "../support/upstream/one-at-a-time.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { isWholeRun, slowTest } from "../support/whole-run.ts";

/** Four trajectories of five steps. */
const samples = ["a", "b", "c", "d"].flatMap((trajectory) =>
  [0, 1, 2, 3, 4].map((step) => ({
    trajectory_id: trajectory,
    step,
    interaction: { state: `${trajectory}${step}`, action: "go on" },
    next_state: `${trajectory}${step + 1}`,
  })),
);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-runs-"));
});
afterAll(() => rm(directory, { recursive: true }));

async function file(name: string, lines: readonly unknown[]): Promise<string> {
  const path = join(directory, name);
  await Bun.write(path, toLines(lines));
  return path;
}

const tooWide = (columns: number) => (line: string) => Bun.stringWidth(line) > columns;

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({
    database,
    get PRESAGE_UPSTREAM_URL() {
      return upstream.url;
    },
  });
  let environment: Record<string, string>;
  beforeAll(async () => {
    environment = {
      PRESAGE_DATABASE_URL: await database.create(),
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_API_KEY: testKey,
    };
    await runPresage(["migrate"], environment);
  });

  /** Answers with the next state, but wrongly where a state ends in 3. */
  function answerWell(): void {
    upstream.answer = ({ body }) => {
      const [, name = "", step = ""] = /State: (.)(\d)/.exec(body.messages.at(-1)?.content ?? "") ?? [];
      return Response.json(completion(step === "3" ? "wrong" : `${name}${Number(step) + 1}`));
    };
  }

  const places = [
    ["in the configured database", () => []],
    ["on a server", () => ["--server", presage.url]],
  ] as const satisfies [string, () => string[]][];

  // Tests of routes cover what a server does with its database, and a command does the same wherever the server is.
  // On the configured database each command starts a whole server, which takes twice the processor time.
  const onServer = isWholeRun ? places : places.slice(1);
  const tested = database.name === "SQLite" ? onServer : places.slice(0, 1);
  describe.each(tested)("%s", (place, placeOf) => {
    const name = (what: string) => `${what}, ${place}`;
    const presageRun = (...args: string[]) => runPresage(["run", ...args, ...placeOf()], environment);
    const presageRuns = (...args: string[]) => runPresage([...args, ...placeOf()], environment);

    test("the line of progress says what is tried again, and the report what was cut", async () => {
      const asked = new Set<string>();
      upstream.answer = ({ text }) => {
        const isFirst = !asked.has(text);
        asked.add(text);
        if (isFirst) return Response.json({ error: { message: "Out of memory." } }, { status: 500 });
        const choices = [{ message: { role: "assistant", content: "a" }, finish_reason: "length" }];
        return Response.json(completion("", { choices }));
      };
      const path = await file("tries.jsonl", samples);
      const { code, stderr } = await presageRun(
        ...["--dataset", path, "--evaluator", "exact-match", "--max-tokens", "60"],
      );
      expect(code).toBe(0);
      expect(stderr).toMatch(
        /20\/20 predictions.*; 20 answers cut; 20 calls tried again \(upstream 20\).*; lower --concurrency/,
      );
      expect(stderr).toContain("100 % of the answers were cut at 60 tokens (20 of 20)");
    });

    test("one sample is one prediction", async () => {
      const path = await file("one.jsonl", samples.slice(0, 1));
      const { stderr } = await presageRun(
        "--dataset",
        path,
        "--baseline",
        "no-change",
        "--evaluator",
        "bleu",
      );
      expect(stderr).toMatch(/1\/1 prediction\b/);
      expect(stderr).toContain("Figures of 1 sample in 1 trajectory");
    });

    test("Ctrl-C pauses the run, and --resume finishes it without asking again for what is there", async () => {
      let isHeld = false;
      const waiting = Promise.withResolvers<void>();
      const answered: string[] = [];
      upstream.answer = async ({ body }) => {
        if (isHeld) await waiting.promise;
        const turn = body.messages.at(-1)?.content ?? "";
        answered.push(turn);
        if (answered.length >= 6) isHeld = true;
        return Response.json(completion("an answer"));
      };
      const path = await file("walks.jsonl", samples);
      const args = ["--dataset", path, "--evaluator", "exact-match", "--concurrency", "2"];
      const child = Bun.spawn([...presageCommand, "run", ...args, ...placeOf()], {
        cwd: directory,
        env: { PATH: process.env.PATH ?? "", ...environment },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      killAfterTests(child);
      await eventually(() => isHeld, Boolean);
      // Gives the command time to store the answers.
      await Bun.sleep(500);
      child.kill("SIGINT");
      expect(await child.exited).toBe(130);
      const stderr = await new Response(child.stderr).text();
      const [, id = ""] = /presage run --resume ([0-9a-f-]{36})/.exec(stderr) ?? [];
      expect(stderr).toContain(`Paused. To finish it:\n  npx presage run --resume ${id}`);
      const kept = [...answered];
      isHeld = false;
      waiting.resolve();
      upstream.answer = ({ body }) => {
        answered.push(body.messages.at(-1)?.content ?? "");
        return Response.json(completion("an answer"));
      };
      // A server finishes the calls that it had made.
      await Bun.sleep(500);
      const resumed = await presageRun("--resume", id);
      expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining("20/20 predictions")]);
      for (const turn of kept) expect(answered.filter((one) => one === turn)).toEqual([turn]);
    });

    // Tests of the routes cover the rest of what a command does on PostgreSQL.
    if (database.name === "PostgreSQL") return;

    test("a file becomes a dataset, the same lines the same revision, and the run ends with a table", async () => {
      answerWell();
      const path = await file("walks.jsonl", samples);
      const args = ["--dataset", path, "--evaluator", "exact-match", "--evaluator", "state-change"];
      const { code, stdout, stderr } = await presageRun(
        ...args,
        "--name",
        name("first"),
        "--temperature",
        "0",
      );
      expect([code, stdout.split("\n").filter(tooWide(80))]).toEqual([0, []]);
      expect(stdout).toMatch(/^exact-match +80\.0 % \(.+\) +0\.800 \(.+\) +20\/20 +0\.0 %$/m);
      expect(stdout).toMatch(/^state-change +80\.0 %/m);
      expect(stderr).toContain("20/20 predictions");
      expect(upstream.received.at(-1)?.body.temperature).toBe(0);
      if (place === "on a server") expect(stderr).toContain(`${presage.url}/runs/`);
      await presageRun("--dataset", path, "--evaluator", "exact-match", "--baseline", "no-change");
      const shown = await presageRuns("datasets", "show", "walks", "--json");
      expect(JSON.parse(shown.stdout).revisions).toHaveLength(1);
    });

    test("a gate that falls short ends with 2 and says what, and an error with 1", async () => {
      answerWell();
      const path = await file("walks.jsonl", samples);
      const args = ["--dataset", path, "--evaluator", "exact-match"];
      const met = await presageRun(...args, "--min-pass-rate", "exact-match=0.8", "--name", name("met"));
      expect([met.code, met.stderr]).toEqual([0, expect.not.stringContaining("below")]);
      const missed = await presageRun(...args, "--min-pass-rate", "exact-match=0.81");
      expect([missed.code, missed.stderr]).toEqual([
        2,
        expect.stringContaining("exact-match: the pass rate 80.0 % is below --min-pass-rate 81.0 %"),
      ]);
      const baseline = [...args, "--baseline", "no-change", "--name", name("worse")];
      const worse = await presageRun(...baseline, "--against", name("met"), "--max-regression", "1.0");
      expect([worse.code, worse.stderr]).toEqual([
        3,
        expect.stringContaining(
          "undecided: 4 trajectories are too few to tell a loss of 80.0 points from chance; at least 6 are needed",
        ),
      ]);
      const again = ["--resume", name("worse"), "--against", name("met"), "--max-regression", "1.0"];
      for (const [undecided, code] of [
        ["pass", 0],
        ["fail", 2],
      ] as const)
        expect(await presageRun(...again, "--undecided", undecided)).toMatchObject({ code });
      const better = await presageRun(
        ...["--resume", name("met"), "--against", name("worse"), "--max-regression", "0"],
      );
      expect([better.code, better.stdout]).toEqual([0, expect.stringContaining("reference")]);
      expect(await presageRun("--resume", name("met"), "--against", name("met"))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("is the same run; name another"),
      });
      const refused = await presageRun(...args, "--against", "nothing");
      expect([refused.code, refused.stderr]).toEqual([1, "There is no run nothing.\n"]);
      expect(await presageRun("--dataset", "nothing", "--evaluator", "exact-match")).toMatchObject({
        code: 1,
        stderr: "There is neither a file nor a dataset nothing\n",
      });
      expect(await presageRun("--dataset", path, "--evaluator", "exact-mach")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("--evaluator exact-mach: Unknown evaluator"),
      });
      expect(await presageRun(...args, "--repeats", "21")).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^--repeats: /),
      });
    });

    test("predictions from a file are judged by a published protocol, and belong to the sample that they name", async () => {
      const rows = [
        { index: 7, prediction_raw: '{"a": 1, "b": 2}', reference: '{"b": 2, "a": 1}' },
        { index: 0, prediction_raw: "<think>so</think>yes", reference: "yes" },
        { index: 2, prediction_raw: "no", reference: "yes" },
        { index: 1, prediction_raw: "1.0", reference: "1" },
      ];
      const path = await file("predicted.jsonl", rows);
      const args = [
        "--dataset",
        path,
        "--predictions",
        path,
        "--protocol",
        "mdlm",
        "--name",
        name("imported"),
      ];
      const { code, stdout, stderr } = await presageRun(...args, "--json");
      expect([code, stderr]).toEqual([0, expect.not.stringContaining("Waiting")]);
      const { evaluators, run } = RunReport.parse(JSON.parse(stdout));
      expect(evaluators.map((one) => [one.profile_name, one.pass_rate])).toEqual([
        ["system:mdlm-exact", 0.5],
        ["system:mdlm-semantic", 0.75],
      ]);
      expect(run).toMatchObject({ mode: "teacher-forced", target: { predictions: "imported" } });
      expect(await presageRun("--resume", run.id, "--predictions", path)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("leave out --predictions"),
      });
    });

    test("a paused run is resumed once its predictions are there or given", async () => {
      // The server pauses it.
      if (place !== "on a server") return;
      const path = await file("walks.jsonl", samples);
      const bad = await file("bad.jsonl", [{ index: 0 }]);
      const good = await file("good.jsonl", [{ index: 0, prediction: "a door" }]);
      const wanted = ["--evaluator", "judge=system:is-concise", "--name", name("given")];
      const { stderr } = await presageRun("--dataset", path, "--predictions", bad, ...wanted);
      const [, id = ""] = /^Run ([0-9a-f-]{36})/m.exec(stderr) ?? [];
      const pause = () => presage.call("POST", `/v1/runs/${id}/pause`);
      expect((await pause()).status).toBe(200);
      const missing = await presageRun("--resume", name("given"));
      expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("give them with --predi")]);
      expect((await presageRuns("runs", "show", id)).stdout).toContain("paused");
      const asked = Promise.withResolvers<void>();
      const waiting = Promise.withResolvers<void>();
      upstream.answer = async () => {
        asked.resolve();
        await waiting.promise;
        return say(passing);
      };
      const resume = ["--resume", name("given"), "--predictions", good];
      const interrupted = presageRun(...resume);
      await asked.promise;
      await pause();
      waiting.resolve();
      expect((await interrupted).stderr).toContain("The run was paused");
      const again = await presageRun(...resume);
      expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("is not read")]);
    });

    test("word2world and llm-sim bring their readers, evaluators and modes", async () => {
      const turn = (role: string, content: string) => ({ role, content });
      const conversations = await file("talks.jsonl", [
        { messages: [turn("system", "x"), turn("user", "look"), turn("assistant", "a door")] },
      ]);
      upstream.answer = () => Response.json(completion(" a door\n"));
      const talked = await presageRun("--dataset", conversations, "--protocol", "word2world");
      expect([talked.code, talked.stdout]).toEqual([
        0,
        expect.stringMatching(/^exact-match +100\.0 % .*\nsystem:word2world-exact$/m),
      ]);
      const states = { game_state: [{ name: "lamp", uuid: 1, properties: {}, contains: [] }] };
      const games = await file("games.jsonl", [
        {
          ...{ game: "light", state_id: 0, current_state: states, action_state: states },
          tick_state: { ...states, lastAction: "turn on lamp" },
        },
      ]);
      const played = await presageRun(
        ...["--dataset", games, "--protocol", "llm-sim", "--baseline", "no-change", "--mode", "free-running"],
      );
      expect([played.code, played.stdout]).toEqual([
        0,
        expect.stringMatching(/^json-match (?:system:llm-sim|.*\nsystem:llm-sim)/m),
      ]);
      const wrongReader = await presageRun("--dataset", games, "--protocol", "word2world");
      expect(wrongReader.code).toBe(1);
    });

    test("runs are listed, shown, compared, reported, cancelled and deleted", async () => {
      answerWell();
      const path = await file("walks.jsonl", samples);
      const args = ["--dataset", path, "--evaluator", "exact-match"];
      for (const baseline of ["no-change", "most-frequent"])
        await presageRun(...args, "--baseline", baseline, "--name", name(baseline));
      const compared = await presageRuns("compare", name("no-change"), name("most-frequent"));
      expect([compared.code, compared.stdout.split("\n").filter(tooWide(80))]).toEqual([0, []]);
      expect(compared.stdout).toContain("reference");
      expect(compared.stderr).toContain("Compared on 20 samples in 4 trajectories");
      await presageRun(...args, "--name", name("model"));
      const worse = await presageRuns("compare", name("model"), name("no-change"));
      expect(worse.stdout).toMatch(/ −80\.0\b/);
      const itself = await presageRuns("compare", name("model"), name("model"));
      expect([itself.code, itself.stderr]).toEqual([1, "compare needs runs that are not the same\n"]);
      const page = join(directory, "comparison.html");
      const toFile = ["--format", "html", "--out", page];
      await presageRuns("compare", name("no-change"), name("most-frequent"), ...toFile);
      expect(await Bun.file(page).text()).toContain(
        `<h1>“${name("most-frequent")}” against “${name("no-change")}”</h1>`,
      );
      const json = await presageRuns("compare", name("no-change"), name("most-frequent"), "--json");
      expect(JSON.parse(json.stdout).evaluators).toHaveLength(1);
      for (const [format, start] of [
        ["html", "<!doctype html>"],
        ["md", "# Run "],
        ["json", "{\n"],
      ] as const) {
        const out = join(directory, `report.${format}`);
        const written = await presageRuns("report", name("no-change"), "--format", format, "--out", out);
        expect(written.code).toBe(0);
        expect(written.stderr).toMatch(/^(In the dashboard:\n {2}http:.+\/runs\/[\w-]+\n)?$/);
        expect((await Bun.file(out).text()).toLowerCase()).toStartWith(start.toLowerCase());
      }
      const written = join(directory, "report.json");
      const [before, link] = [join(directory, "report.before"), join(directory, "report.link")];
      await Promise.all([linkFile(written, before), symlink(written, link), chmod(written, 0o640)]);
      await presageRuns("report", name("model"), "--format", "md", "--out", link);
      // The complete new file has replaced the old one, and a reader of the old one still has it.
      expect((await Bun.file(before).text()).slice(0, 2)).toBe("{\n");
      expect(await Bun.file(written).text()).toStartWith("# Run ");
      expect([(await lstat(link)).isSymbolicLink(), (await stat(written)).mode & 0o777]).toEqual([
        true,
        0o640,
      ]);
      await Promise.all([before, link].map((path) => rm(path)));
      const pipe = join(directory, `pipe-${placeOf().length}`);
      Bun.spawnSync(["mkfifo", pipe]);
      const reader = Bun.spawn(["cat", pipe], { stdout: "pipe" });
      const piped = await presageRuns("runs", "export", name("model"), "--out", pipe);
      expect([piped.code, (await stat(pipe)).isFIFO()]).toEqual([0, true]);
      expect((await reader.stdout.text()).trim().split("\n")).toHaveLength(20);
      expect((await presageRuns("runs", "list")).stdout).toContain(name("no-change"));
      expect((await presageRuns("runs", "show", name("no-change"))).stdout).toContain("finished; 20 of 20");
      const cancelled = await presageRuns("runs", "cancel", name("no-change"));
      expect([cancelled.code, cancelled.stderr]).toEqual([1, expect.stringContaining("finished")]);
      expect((await presageRuns("runs", "delete", name("no-change"))).stdout).toStartWith("Deleted ");
      expect((await presageRuns("runs", "show", name("no-change"))).code).toBe(1);
    });
  });

  slowTest("the line of progress says how many calls at once the deployment bears", async () => {
    upstream.answer = oneAtATime(600);
    const path = await file("slow.jsonl", samples.slice(0, 8));
    const { code, stderr } = await runPresage(["run", "--dataset", path, "--evaluator", "exact-match"], {
      ...environment,
      PRESAGE_UPSTREAM_TIMEOUT_MS: "2000",
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /8\/8 predictions.* timed out; the deployment answers about \d at once; lower --concurrency or raise the time-out/,
    );
  });

  const own = useUpstream();
  test("the command asks its own deployment also beside a server on the same database, and names its address", async () => {
    upstream.answer = () => Response.json(completion("the server's"));
    own.answer = () => Response.json(completion("the command's"));
    const path = await file("walks.jsonl", samples);
    const { code, stdout, stderr } = await runPresage(
      ["run", "--dataset", path, "--evaluator", "exact-match", "--name", "beside"],
      {
        PRESAGE_DATABASE_URL: presage.databaseUrl,
        PRESAGE_UPSTREAM_URL: own.url,
      },
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining(`  ${presage.url}/runs/`)]);
    expect(stdout).toContain("0.0 %");
    const [, id = ""] = /^Run ([0-9a-f-]{36}): beside, 20 predictions$/m.exec(stderr) ?? [];
    const exported = await (await presage.call("GET", `/v1/runs/${id}/export`)).text();
    expect(exported.match(/"prediction":"the command's"/g)).toHaveLength(20);
  });
});

test("a command without a database creates one, but not if it is refused", async () => {
  const environment = { PRESAGE_DATABASE_URL: `sqlite:${join(directory, "new.db")}` };
  const path = await file("walks.jsonl", samples);
  const refused = await runPresage(["run", "--dataset", path, "--evaluator", "exact-mach"], environment);
  expect([refused.code, await Bun.file(join(directory, "new.db")).exists()]).toEqual([1, false]);
  const args = ["run", "--dataset", path, "--evaluator", "exact-match", "--baseline", "no-change"];
  expect(await runPresage(args, environment)).toMatchObject({ code: 0 });
});

test("in a terminal of 80 columns there is a bar, and the table fits", async () => {
  const environment = { PRESAGE_DATABASE_URL: `sqlite:${join(directory, "terminal.db")}` };
  const path = await file("walks.jsonl", samples);
  const args = ["run", "--dataset", path, "--evaluator", "exact-match", "--baseline", "no-change"];
  const { code, lines } = await runInTerminal(args, environment);
  expect(code).toBe(0);
  expect(lines).toContainEqual(expect.stringMatching(/=+ 20\/20 predictions/));
  const table = lines.findIndex((line) => line.startsWith("evaluator "));
  expect(lines.slice(table, table + 2).filter(tooWide(80))).toEqual([]);
  expect(lines[table + 1]).toMatch(/^exact-match +0\.0 % .+ 20\/20 +0\.0 %$/);
});

test.each([
  ["run", "run needs --dataset"],
  ["run --dataset x", "run needs --evaluator, or --protocol"],
  ["run --dataset x --evaluator e --resume y", "--resume cannot be combined with --dataset"],
  [
    "run --dataset x --evaluator e --baseline no-change --model m",
    "--baseline cannot be combined with --model",
  ],
  [
    "run --dataset x --evaluator e --baseline no-change --seed 1",
    "--baseline cannot be combined with --seed",
  ],
  ["run --dataset x --evaluator e --max-regression 1", "--max-regression needs --against"],
  [
    "run --dataset x --evaluator e --undecided pass",
    "--undecided needs --max-regression, or --limit with --min-pass-rate",
  ],
  [
    "run --dataset x --evaluator e --against r --max-regression 1 --undecided maybe",
    "--undecided takes pass or fail",
  ],
  ["run --dataset x --evaluator e --min-pass-rate f=2", "--min-pass-rate takes EVALUATOR=SHARE"],
  ["run --dataset x --evaluator e --predictions nothing.jsonl", "There is no file nothing.jsonl"],
  ["compare x", "compare needs two or more runs"],
  ["compare x x --format md --json", "--json cannot be combined with --format"],
  ["label 1 pass again", "label takes a file, a run, or an id and pass or fail"],
  ["label x --draw 0", "--draw takes a whole number from 1 to 1000"],
  ["label x --draw 1001", "--draw takes a whole number from 1 to 1000"],
  ["label x pass --draw 2", "--draw takes a run and no label"],
  ["label x --draw 2 --annotator ada", "--draw cannot be combined with --annotator"],
  ["reality x --name n", "--name needs --pairs"],
  ["reality x --undecided pass", "--undecided needs --max-false-success"],
  ["reality --pairs nothing.jsonl --name n --policy p", "--policy is for episodes"],
])("presage %s is refused", async (command, start) => {
  const { code, stderr } = await runPresage(command.split(" "), {});
  expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^${start}`))]);
});
