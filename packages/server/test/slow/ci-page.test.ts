import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { mainFile } from "../support/presage/main-file.ts";
import { testKey } from "../support/presage/presage.ts";
import { blocksOf } from "../support/presage/run-blocks.ts";
import { usePresage } from "../support/presage/use-presage.ts";

interface Workflow {
  jobs: { gate: { defaults: { run: { shell: string } }; steps: { name?: string; run?: string }[] } };
}
interface Pipeline {
  "world-model": { script: string[]; after_script: string[] };
}

const docs = resolve(import.meta.dir, "../../../../docs");
const page = await readFile(join(docs, "ci.md"), "utf8");
const [workflow, pipeline] = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) =>
  parse(text),
) as [Workflow, Pipeline];
const presage = usePresage();
let folder: string;

interface Ran {
  code: number;
  output: string;
}

/** Runs a step's script as the service does: bash, which stops at the first command that fails. */
async function runScript(script: string, work: string, environment: Record<string, string>): Promise<Ran> {
  const child = Bun.spawn(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", `${script}\n`], {
    cwd: work,
    env: {
      PATH: `${join(folder, "bin")}:${process.env.PATH ?? ""}`,
      ...environment,
      PRESAGE_API_KEY: testKey,
      SERVER: presage.url,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, output: texts.join("") };
}

async function addProgram(name: string, script: string): Promise<void> {
  const path = join(folder, "bin", name);
  await Bun.write(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

async function newWork(name: string): Promise<string> {
  const work = join(folder, name);
  await mkdir(work);
  return work;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "presage-ci-"));
  await mkdir(join(folder, "bin"));
  await addProgram("presage", `exec '${process.execPath}' '${mainFile}' "$@"`);
  // package.test.ts tests the installation; GitHub's own program posts what it is given.
  await addProgram("npm", `echo "$@" >> '${folder}/npm.txt'`);
  await addProgram("gh", `echo "$@" >> '${folder}/gh.txt'; cat >> '${folder}/gh.txt'`);
  const once = blocksOf(page).replaceAll("http://127.0.0.1:8080", presage.url);
  const ran = await runScript(once, resolve(docs, ".."), {});
  expect([ran.code, ran.output]).toEqual([0, expect.stringContaining("exact-match")]);
});
afterAll(() => rm(folder, { recursive: true }));

test("the workflow for GitHub passes with the accepted model, fails with a worse one or an error, and posts what it says", async () => {
  const { gate } = workflow.jobs;
  expect(gate.defaults.run.shell).toBe("bash");
  const steps: Record<string, string> = Object.fromEntries(
    gate.steps.flatMap(({ name, run }) => (run === undefined ? [] : [[name, run]])),
  );
  const { Gate = "", Report = "" } = steps;
  const installed = await runScript(steps["Install Presage"] ?? "", folder, { PACKAGE: "./presage.tgz" });
  expect([installed.code, await Bun.file(join(folder, "npm.txt")).text()]).toEqual([
    0,
    "install --global ./presage.tgz\n",
  ]);
  const runOnce = async (run: string, script: string) => {
    const work = await newWork(run);
    const summary = join(work, "summary.md");
    const environment = { RUN: run, GITHUB_SHA: "c0ffee", GITHUB_STEP_SUMMARY: summary, PULL: "7" };
    const gated = await runScript(script, work, environment);
    const reported = await runScript(Report, work, environment);
    expect(reported.code).toBe(0);
    const html = join(work, "report.html");
    const hasReport = (await Bun.file(html).exists()) && (await Bun.file(html).text()).includes(`Run ${run}`);
    return { code: gated.code, hasReport, summary: await Bun.file(summary).text() };
  };
  const passed = await runOnce("pull-7-1-1", Gate);
  expect(passed).toMatchObject({ code: 0, hasReport: true });
  expect(passed.summary).toMatch(/^```\n.*exact-match.*^```\n\n# Run pull-7-1-1/ms);
  const failed = await runOnce("pull-7-2-1", Gate.replace("exact-match=0.6", "exact-match=0.9"));
  expect(failed).toMatchObject({ code: 2, hasReport: true });
  expect(failed.summary).toContain("the pass rate 66.7 % is below --min-pass-rate 90.0 %");
  const impossible = await runOnce("pull-7-3-1", Gate.replace("accepted-1", "accepted-9"));
  expect(impossible).toEqual({
    code: 1,
    hasReport: false,
    summary: "```\nThere is no run accepted-9.\n```\n\nThere is no report.\n",
  });
  const posted = await Bun.file(join(folder, "gh.txt")).text();
  expect(posted).toBe(
    [passed, failed, impossible]
      .map(({ summary }) => `pr comment 7 --edit-last --create-if-none --body-file -\n${summary}`)
      .join(""),
  );
});

test("the job for GitLab passes with the accepted model, fails with a worse one, and posts both reports", async () => {
  const notes: { path: string; token: string | null; body: string }[] = [];
  await using gitlab = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = String((await request.formData()).get("body"));
      notes.push({ path: new URL(request.url).pathname, token: request.headers.get("private-token"), body });
      return new Response("{}", { status: 201 });
    },
  });
  const job = pipeline["world-model"];
  const script = job.script.join("\n");
  const afterScript = job.after_script.join("\n");
  const runOnce = async (run: string, gate: string) => {
    const work = await newWork(run);
    const environment = {
      RUN: run,
      PACKAGE: "./presage.tgz",
      CI_COMMIT_SHA: "c0ffee",
      CI_API_V4_URL: `${gitlab.url.origin}/api/v4`,
      CI_PROJECT_ID: "3",
      CI_MERGE_REQUEST_IID: "7",
      GITLAB_TOKEN: "token-of-gitlab",
    };
    const gated = await runScript(gate, work, environment);
    const reported = await runScript(afterScript, work, environment);
    // Only the address of the run's page.
    expect([reported.code, reported.output]).toEqual([
      0,
      expect.stringMatching(/^(In the dashboard:\n {2}http\S+\n)*$/),
    ]);
    return { code: gated.code, report: await Bun.file(join(work, "report.md")).text() };
  };
  const passed = await runOnce("merge-7-1", script);
  const failed = await runOnce("merge-7-2", script.replace("exact-match=0.6", "exact-match=0.9"));
  expect([passed.code, failed.code]).toEqual([0, 2]);
  expect(failed.report).toContain("is below --min-pass-rate 90.0 %");
  expect(notes).toEqual(
    [passed, failed].map(({ report }) => ({
      path: "/api/v4/projects/3/merge_requests/7/notes",
      token: "token-of-gitlab",
      body: report,
    })),
  );
});
