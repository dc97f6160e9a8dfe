import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tenQuestions } from "../../packages/web/test/support/ten-questions.ts";
import {
  call,
  createRun,
  finishRun,
  post,
  predictionLine,
  read,
  sampleLine,
  streamLines,
  uploadPredictions,
  uploadSamples,
} from "../lib/api.ts";
import { figureOf, judge, showCount, showFigure, tableOf } from "../lib/figures.ts";
import { loadNow } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { bun, type ProcessGroup, rootDirectory, untilTrue, workDirectory } from "../lib/processes.ts";
import { type RunningPresage, sqliteFile, startPresage } from "../lib/targets.ts";
import { openSystemBrowser, signIn, type Visitor, withPage } from "./visitor.ts";

const fullPlan = { samples: 25_000, rounds: 3 };
const quickPlan = { samples: 2_000, rounds: 1 };
type Plan = typeof fullPlan;

const evaluators = [{ evaluator: "exact-match" }, { evaluator: "state-change" }];
/** The name of the large dataset, as in its row on the overview. */
const large = "warehouse";
const mostMs = 2_000;

interface Asked {
  readonly question: string;
  readonly clicks: number;
  /** From the first click until the answer is there. */
  readonly answeredMs: readonly number[];
}

interface Answers {
  readonly asked: readonly Asked[];
  /** From the navigation until the overview has its rows, with nothing cached. */
  readonly overviewMs: readonly number[];
  readonly problems: readonly string[];
}

export const questionsPart: Part = {
  title: "The ten questions",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickPlan : fullPlan;
    const browser = await openSystemBrowser();
    if ("notMeasured" in browser) return { goals: [], problems: [browser.notMeasured], text: "" };
    const directory = join(workDirectory, "questions");
    try {
      const script = join(rootDirectory, "packages", "web", "build.ts");
      await group.outputOf("building the dashboard", { argv: [process.execPath, script] });
      const presage = await fill(group, (await upstream()).origin, plan);
      const signedIn = await signIn(browser, readFileSync(join(directory, "output.log"), "utf8"));
      const answers = await ask({ browser, origin: presage.origin, signedIn }, plan);
      await group.stop(presage.process);
      return {
        goals: judgeAnswers(answers),
        problems: answers.problems,
        text: writeAnswers(answers, plan, browser.version()),
      };
    } finally {
      await browser.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

/** A server with two accounts, the second of which comes from another server. */
const fill = async (group: ProcessGroup, upstreamOrigin: string, plan: Plan): Promise<RunningPresage> => {
  const exported = join(workDirectory, "other-account.jsonl");
  const other = await startPresage(group, upstreamOrigin, "questions-other");
  await runImported(
    other,
    "elsewhere",
    await uploadOf(other, "elsewhere", plan.samples / 10),
    plan.samples / 10,
  );
  await accountCommand(group, other.directory, ["export", exported]);
  await group.stop(other.process);
  // The local owner is in one account of a database only.
  const text = await Bun.file(exported).text();
  await Bun.write(exported, text.replace('"oidc_subject":"owner"', '"oidc_subject":"other"'));

  const prices = join(workDirectory, "prices.yaml");
  await Bun.write(prices, "currency: EUR\nmodels:\n  mock: { prompt: 0.2, completion: 0.6 }\n");
  const settings = { PRESAGE_PRICES: prices };
  const first = await startPresage(group, upstreamOrigin, "questions", undefined, settings);
  await group.stop(first.process);
  await accountCommand(group, first.directory, ["import", "--account", "other", exported]);
  const presage = await startPresage(group, upstreamOrigin, "questions", undefined, settings);
  await fillAccount(presage, plan.samples);
  return presage;
};

const accountCommand = async (
  group: ProcessGroup,
  directory: string,
  argv: readonly string[],
): Promise<void> => {
  const main = join(rootDirectory, "packages", "server", "src", "main.ts");
  const env = { PRESAGE_DATABASE_URL: `sqlite:${sqliteFile(directory)}` };
  await group.outputOf(`account ${argv[0]}`, { argv: [bun, main, "account", ...argv], env });
};

/** Three datasets and ten runs, two of them over the large dataset; a goal, a reality check and direct predictions. */
const fillAccount = async (presage: RunningPresage, samples: number): Promise<void> => {
  const startedAtMs = performance.now();
  for (const [name, count] of [
    ["kitchen", 400],
    ["office", 150],
  ] as const) {
    const dataset_id = await uploadOf(presage, name, count);
    const baseline = { target: { baseline: "no-change" }, name: `${name}, no change` };
    const model = { target: { deployment: "default" }, name: `${name}, our model` };
    for (const of of [baseline, model, model, model])
      await finishRun(presage, await createRun(presage, { ...of, dataset_id, evaluators }));
  }
  const dataset_id = await uploadOf(presage, large, samples);
  await runImported(presage, "our model", dataset_id, samples, earlierLine);
  await runImported(presage, "our model", dataset_id, samples);
  const goal = JSON.stringify({ evaluator: "exact-match", pass_rate: 0.6 });
  await call(presage, "PUT", "/v1/goals/our model", goal);
  const pairs = Array.from({ length: 400 }, (_, index) => ({
    task_id: `t${index % 40}`,
    episode_id: `e${index}`,
    simulated: index % 3 > 0,
    real: index % 4 > 0,
  }));
  await post(presage, "/v1/reality-checks", { name: "lab", environment: "sandbox", pairs });
  // A disputed verdict.
  await post(presage, "/v1/evaluate", {
    evaluators: [{ evaluator: "exact-match" }, { evaluator: "rouge-l" }],
    evaluation_run_id: "disputed",
    dataset_sample_id: 1,
    evaluated_model_input: "You push.",
    evaluated_model_output: "The door opens slowly and quietly.",
    evaluated_model_gold_answer: "The door opens slowly and quietly now.",
  });
  const interaction = { state: "The door is closed.", action: "open door" };
  await post(presage, "/v1/predict", { interaction });
  const patience = { everyMs: 200, timeoutMs: 120_000 };
  await untilTrue("the usage is not counted", patience, async () => {
    const { data } = await read<{ data: object[] }>(presage, "/v1/usage");
    return data.length > 0;
  });
  await untilTrue("the runs have no headlines", patience, async () => {
    const { data } = await read<{ data: { dataset_name: string; change: object | null }[] }>(
      presage,
      "/v1/headlines",
    );
    return data.some(({ dataset_name, change }) => dataset_name === large && change !== null);
  });
  const tookS = (performance.now() - startedAtMs) / 1000;
  process.stdout.write(`questions  filled in ${tookS.toFixed(1)} s\n`);
};

const uploadOf = async (presage: RunningPresage, name: string, samples: number): Promise<string> =>
  await uploadSamples(presage, name, samples, (index) => sampleLine(index, 0));

/** Wrong for every fifth sample too. */
const earlierLine = (index: number): string =>
  index % 5 === 0 ? `${JSON.stringify({ index, prediction: "Nothing happens." })}\n` : predictionLine(index);

/** A run of predictions made elsewhere. */
const runImported = async (
  presage: RunningPresage,
  name: string,
  dataset_id: string,
  samples: number,
  lineOf: (index: number) => string = predictionLine,
): Promise<void> => {
  const id = await createRun(presage, { name, dataset_id, target: { predictions: "imported" }, evaluators });
  await uploadPredictions(presage, id, streamLines(samples, lineOf));
  await finishRun(presage, id);
};

/** Each question in a new context that has only the session, so that nothing is cached; questions take turns. */
const ask = async (visitor: Visitor, { rounds }: Plan): Promise<Answers> => {
  const asked = tenQuestions(large).map((one) => ({ ...one, answeredMs: [] as number[] }));
  const overviewMs: number[] = [];
  const problems: string[] = [];
  // The first round only warms the server up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { question, clicks, answer, answeredMs } of asked) {
      try {
        const took = await withPage(visitor, async (page) => {
          const openedAtMs = performance.now();
          await page.goto(`${visitor.origin}/`, { waitUntil: "commit" });
          await page.getByRole("row").filter({ hasText: large }).waitFor();
          const clickedAtMs = performance.now();
          for (const click of clicks) await click(page).click();
          await answer(page).waitFor();
          return [clickedAtMs - openedAtMs, performance.now() - clickedAtMs] as const;
        });
        if (round === 0) continue;
        overviewMs.push(took[0]);
        answeredMs.push(took[1]);
      } catch (error) {
        const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
        problems.push(`${question} in round ${round}: ${reason}`);
        process.stdout.write(`questions  FAILED: ${problems.at(-1)}\n`);
      }
    }
    process.stdout.write(`questions  round ${round} of ${rounds}, load ${loadNow().toFixed(1)}\n`);
  }
  return {
    asked: asked.map(({ question, clicks, answeredMs }) => ({ question, clicks: clicks.length, answeredMs })),
    overviewMs,
    problems,
  };
};

const figureFrom = (ms: readonly number[]) => figureOf(ms, (one) => one);

const judgeAnswers = ({ asked, overviewMs, problems }: Answers) => {
  const slowest = asked
    .map(({ question, answeredMs }) => ({ question, ms: figureFrom(answeredMs)?.median ?? Number.NaN }))
    .toSorted((one, other) => other.ms - one.ms)[0];
  const isWhole = problems.length === 0;
  const mostClicks = Math.max(...asked.map(({ clicks }) => clicks));
  return [
    judge(
      "Each is answered in at most two clicks from the overview",
      mostClicks,
      (most) => isWhole && most <= 2,
      (most) => `${most} at most`,
    ),
    judge(
      "Each is answered within 2 s of the first click",
      slowest?.ms,
      (ms) => isWhole && ms <= mostMs,
      (ms) => `${ms.toFixed(0)} ms at worst (${slowest?.question})`,
    ),
    judge(
      "The overview has its rows in under 2 s, with nothing cached",
      figureFrom(overviewMs)?.median,
      (ms) => isWhole && ms <= mostMs,
      (ms) => `${ms.toFixed(0)} ms`,
    ),
  ];
};

const writeAnswers = ({ asked, overviewMs }: Answers, { samples, rounds }: Plan, version: string): string => `
- Two accounts; in the one that is asked, three datasets (400, 150 and ${showCount(samples)} samples), ten runs, two of them over the
  large dataset (${showCount(2 * samples)} predictions, each with two verdicts), direct predictions, a goal and a reality check of 400 episodes. SQLite.
- Chromium ${version}, headless and without a GPU, in a window of 1440 by 900; browser and server share the machine. Medians of
  ${rounds} rounds, with the range; each question in a new browser context that has only the session.
- Times are by the clock of the driver, which adds some milliseconds to each click: from the first click until the answer is in
  sight. The load average was ${loadNow().toFixed(1)} afterwards, on two cores.
- From the navigation until the overview has its rows: ${showFigure(figureFrom(overviewMs))} ms.

${tableOf(asked, [
  ["question", ({ question }) => question],
  ["clicks", ({ clicks }) => String(clicks)],
  ["answered after, ms", ({ answeredMs }) => showFigure(figureFrom(answeredMs))],
])}
`;
