import { describe, expect, test } from "bun:test";
import { environment } from "../../src/config/environment.ts";
import { runPresage } from "../support/presage/run-presage.ts";

const commands = [
  ...[
    "serve",
    "config",
    "migrate",
    "sign-in",
    "predict",
    "evaluate",
    "results repair-times",
    "results mend-times",
  ],
  ...["backup", "restore", "doctor"],
  ...["keys", "keys create", "keys list", "keys update", "keys revoke", "users", "users list", "users end"],
  ...["datasets", "datasets import", "datasets list", "datasets show", "datasets delete"],
  ...[
    "run",
    "compare",
    "report",
    "runs",
    "runs list",
    "runs show",
    "runs resume",
    "runs finish",
    "runs cancel",
    "runs delete",
  ],
  ...["worlds", "worlds create", "worlds revise", "worlds list", "worlds show", "worlds diff"],
  "worlds evaluate",
  ...["worlds preview", "worlds archive", "worlds delete", "play"],
  ...["worlds export", "worlds import"],
  "reality",
  ...["goals", "goals list", "goals set", "goals remove"],
  ...["budget", "budget show", "budget set", "budget clear"],
  ...["worlds calibrate", "worlds threshold", "calibrate", "label", "agree", "correct"],
];

describe("help", () => {
  test("of presage fits one screen and names every command, but no variable besides", async () => {
    const { code, stdout } = await runPresage(["--help"], {});
    expect(code).toBe(0);
    const named = [
      "serve",
      "config",
      "migrate",
      "backup",
      "restore",
      "doctor",
      "keys",
      "users",
      "datasets",
      "run",
      "compare",
      "report",
    ];
    for (const command of [...named, "runs", "worlds", "play", "results", "predict", "evaluate"])
      expect(stdout).toMatch(new RegExp(`^  ${command} `, "m"));
    expect(stdout).toContain("presage help environment");
    expect(stdout).not.toContain("PRESAGE_");
    expect(stdout.split("\n").length).toBeLessThanOrEqual(40);
  });

  test.each([["help environment"], ["environment"], ["environment --help"]])(
    "%s lists every variable with its default",
    async (command) => {
      const { code, stdout } = await runPresage(command.split(" "), {});
      expect(code).toBe(0);
      for (const name of Object.keys(environment.shape))
        expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
      expect(stdout).toContain("(default: 8080)");
    },
  );

  test.each(commands)("of %s has examples, in lines of at most 80 columns", async (command) => {
    const { code, stdout } = await runPresage([...command.split(" "), "--help"], {});
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`\nExamples:\n(  .+\n)*  .*presage ${command}`));
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("of users end says first that a user who can still sign in regains access", async () => {
    const { stdout } = await runPresage(["users", "end", "--help"], {});
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("end their access there first");
  });
});

describe("A misspelt name", () => {
  test.each([
    ["evalute", "Unknown command evalute. Did you mean evaluate? The commands are serve, config, "],
    ["help evalute", "Unknown command evalute. Did you mean evaluate? The commands are serve, config, "],
    ["evalute --help", "Unknown command evalute. Did you mean evaluate? The commands are serve, config, "],
    [
      "keys lst",
      "Unknown command keys lst. Did you mean list? The commands are create, list, update, revoke.\n",
    ],
    ["results repair --help", "Unknown command results repair. The command is repair-times.\n"],
    ["login", "Unknown command login. The commands are serve, config, migrate, backup, restore, "],
    ["predict --stat calm", "error: unknown option '--stat'\n(Did you mean --state?)\n"],
    ["keys list --jsn", "error: unknown option '--jsn'\n(Did you mean --json?)\n"],
  ])("presage %s is refused, with the one that was meant", async (command, start) => {
    const { code, stdout, stderr } = await runPresage(command.split(" "), {});
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toStartWith(start);
  });
});
