import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { version } from "../../../package.json" with { type: "json" };
import { testKey } from "../../support/presage/presage.ts";
import { usePresage } from "../../support/presage/use-presage.ts";
import { PYTHONPYCACHEPREFIX, pythonEnvironment } from "../../support/python/python-environment.ts";

const root = resolve(import.meta.dir, "../../../../..");
const client = join(root, "clients/python");
const requirements = await readFile(join(client, "requirements-test.txt"), "utf8");
const python = await pythonEnvironment(requirements.split("\n").filter((line) => line !== ""));

describe.skipIf(python === undefined)("clients/python", () => {
  const presage = usePresage();
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "presage-python-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs the virtual environment's Python, by default with the client's sources. */
  async function run(options: string[], { cwd = client, sources = join(client, "src") } = {}) {
    const child = Bun.spawn([python ?? "", ...options], {
      cwd,
      env: {
        ...process.env,
        PRESAGE_URL: presage.url,
        PRESAGE_API_KEY: testKey,
        PYTHONPATH: sources,
        PYTHONPYCACHEPREFIX,
        PYRIGHT_PYTHON_IGNORE_WARNINGS: "1",
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, output: stdout + stderr };
  }

  async function expectClean(module: string, ...options: string[]): Promise<void> {
    const { code, output } = await run(["-m", module, ...options]);
    expect({ module, code, shown: code === 0 ? "" : output }).toEqual({ module, code: 0, shown: "" });
  }

  test("its own tests pass against this server", async () => {
    const { code, output } = await run(["-m", "pytest"]);
    if (code !== 0) process.stdout.write(output);
    expect(output).toMatch(/\b\d+ passed in /);
    expect(output).not.toMatch(/\b(failed|skipped|error|warnings?)\b.* in [\d.]+s/);
    expect(code).toBe(0);
  });

  test("ruff and pyright, strictly, find nothing", async () => {
    const sources = ["--config", "pyproject.toml", ".", join(root, "scripts")];
    await expectClean("ruff", "check", ...sources);
    await expectClean("ruff", "format", "--check", ...sources);
    await expectClean("pyright", "--pythonpath", python ?? "");
  });

  test("the wheel and the source distribution of a release have what they need, and the wheel works by itself", async () => {
    // The script builds with the first Python that it finds, if that has the build backend.
    const env = { ...process.env, PATH: `${dirname(python ?? "")}:${process.env.PATH}` };
    const build = Bun.spawn(["node", join(root, "scripts/build-python.mjs"), folder], {
      env,
      stdout: "pipe",
      stderr: "pipe",
    });
    const said = await Promise.all([build.stdout.text(), build.stderr.text()]);
    expect({ code: await build.exited, said: build.exitCode === 0 ? [] : said }).toEqual({
      code: 0,
      said: [],
    });
    const built = (await readdir(folder)).filter((name) => /\.(whl|tar\.gz)$/.test(name)).sort();
    expect(built).toEqual([`presage_client-${version}-py3-none-any.whl`, `presage_client-${version}.tar.gz`]);
    const wheel = join(folder, built[0] ?? "");
    const listed = await run(["-m", "zipfile", "-l", wheel]);
    for (const name of ["presage/py.typed", "presage/aio.py", "METADATA", "licenses/LICENSE"])
      expect(listed.output).toContain(name);
    expect(listed.output).not.toMatch(/test/);
    const source = await run(["-m", "tarfile", "-l", join(folder, built[1] ?? "")]);
    for (const name of [
      "pyproject.toml",
      "README.md",
      "LICENSE",
      "src/presage/client.py",
      "tests/test_runs.py",
    ])
      expect(source.output).toContain(name);
    // Python imports from a wheel as from a folder; `-S` hides installed packages.
    const asked = ["-S", "-m", "presage", "predict", "--state", "The fridge is closed."];
    const answer = await run([...asked, "--action", "open fridge"], { cwd: folder, sources: wheel });
    expect(answer).toEqual({ code: 0, output: "You open the fridge.\n" });
  });

  test.each([
    ["README.md", ["You open the fridge."]],
    [
      "clients/python/README.md",
      [
        "pass: True",
        "True 1.0",
        "no change finished",
        "the model",
        "openai-chat 1",
        "key.txt",
        "invalid 422",
        "200",
      ],
    ],
    ["docs/training.md", ["1.0 True success", "'sandbox'"]],
  ])("the Python of %s runs as it stands", async (page, expected) => {
    const text = await readFile(join(root, page), "utf8");
    const blocks = [...text.matchAll(/^```python\n(.*?)^```/gms)].map(([, block = ""]) => block);
    // Other clients have their own tests, and a trainer is gigabytes: examples/grpo.py is run by hand.
    const runnable = blocks.filter((block) => !/^from (trl|openenv|ors)\b/m.test(block));
    expect(runnable.length).toBeGreaterThan(0);
    const script = runnable.join("\n").replaceAll("http://127.0.0.1:8080", presage.url);
    const { code, output } = await run(["-c", script], { cwd: folder });
    expect({ code, shown: code === 0 ? "" : output }).toEqual({ code: 0, shown: "" });
    for (const part of expected) expect(output).toContain(part);
  });

  test("the TRL example of the documentation is the one that is run by hand", async () => {
    const script = await readFile(join(client, "examples/grpo.py"), "utf8");
    const page = await readFile(join(root, "docs/training.md"), "utf8");
    const [, block = ""] = /^```python\n(from trl import GRPO.*?)^```/ms.exec(page) ?? [];
    const lines = block.split("\n").filter((line) => line !== "" && !/model=|args=/.test(line));
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(script).toContain(line);
  });

  test.each(["examples/train-with-trl.py", "clients/python/examples/grpo.py"])(
    "%s is at most ten statements",
    async (file) => {
      const count = `import ast, sys; print(len(ast.parse(open(sys.argv[1]).read()).body) - 1)`;
      const { output } = await run(["-c", count, join(root, file)]);
      expect(Number(output)).toBeLessThanOrEqual(10);
    },
  );
});
