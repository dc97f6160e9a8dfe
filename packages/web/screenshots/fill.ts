import { createPresage, type Presage } from "@presage/sdk";
import { evaluateTransitions } from "./evaluate-transitions.ts";
import type { Transition } from "./read-transitions.ts";
import { startServer } from "./start-server.ts";

const dayMs = 86_400_000;
/** So many days have something in them, today among them. */
const days = 14;
/** Days that have a run more than the others, so that no two look alike. */
const busyEvery = 3;
const transitionsOfRun = 40;

/** Fills a database as two weeks of use would: each day a server whose clock is set to it predicts and evaluates. */
export async function fill(
  environment: Record<string, string>,
  apiKey: string,
  transitions: readonly Transition[],
): Promise<void> {
  for (let daysAgo = days - 1; daysAgo >= 0; daysAgo -= 1) {
    const server = await startServer(environment, -daysAgo * dayMs);
    const presage = createPresage({ baseUrl: server.url, apiKey });
    if (daysAgo === days - 1) await setUp(presage);
    const runs = daysAgo % busyEvery === 0 ? 2 : 1;
    for (let run = 1; run <= runs; run += 1) {
      const runId = `run-${String(days - daysAgo).padStart(2, "0")}${runs > 1 ? `-${run}` : ""}`;
      const offset = (daysAgo * 2 + run) * transitionsOfRun;
      const sample = Array.from(
        { length: Math.min(transitionsOfRun, transitions.length) },
        (_, index) => transitions[(offset + index * 7) % transitions.length],
      ).filter((transition) => transition !== undefined);
      const app = run === 1 ? "world-model" : "nightly";
      await evaluateTransitions(presage, sample, { runId, app, model: "presage-sandbox" });
    }
    if (daysAgo === 0) await addWhatGoesWrong(presage);
    await server.stop();
  }
}

/** Profiles with revisions, a taxonomy of one's own, and keys beside the first. */
async function setUp(presage: Presage): Promise<void> {
  const strict = await presage.profiles.create({
    evaluator_family: "rouge-l",
    name: "close enough",
    config: { threshold: 0.9 },
    description: "Nearly the words of the environment.",
  });
  await presage.profiles.revise(strict.public_id, { config: { threshold: 0.7 } });
  await presage.profiles.create({
    evaluator_family: "contains",
    name: "names no tool",
    config: { substrings: ["spotify__", "supervisor__"], mode: "none" },
    description: "A state says what is there, not which tool to call.",
  });
  const taxonomy = await presage.errorTaxonomies.create({
    error_taxonomy_name: "world-model slips",
    error_taxonomy_description: "What our world model gets wrong.",
    body: {
      State: ["Forgets a change", "Invents an object", "Keeps what is gone"],
      Form: ["Not the environment’s words", "Broken JSON"],
    },
    labels: ["production"],
  });
  await presage.errorTaxonomies.create({
    error_taxonomy_id: taxonomy.error_taxonomy_id,
    body: {
      State: ["Forgets a change", "Invents an object", "Keeps what is gone", "Wrong room"],
      Form: ["Not the environment’s words", "Broken JSON"],
    },
    labels: ["candidate"],
  });
  for (const name of ["training cluster", "evaluation nightly"]) await presage.apiKeys.create({ name });
  const expiry = new Date(Date.now() + 5 * dayMs).toISOString();
  await presage.apiKeys.create({ name: "notebook", expires_at: expiry });
}

/** Evaluations without a verdict, predictions that are refused, and people who say otherwise. */
async function addWhatGoesWrong(presage: Presage): Promise<void> {
  await presage.evaluate({
    evaluators: [
      { evaluator: "judge", profile_name: "system:state-consistent" },
      { evaluator: "rouge-l", profile_name: "close enough" },
      { evaluator: "contains", profile_name: "names no tool" },
    ],
    evaluated_model_input: "State: You stand in the hall.\n\nAction: open the oak door",
    evaluated_model_output: "You open the oak door. Behind it lies the garden.",
    evaluated_model_gold_answer: "You open the oak door. Behind it lies the herb garden.",
    app: "world-model",
  });
  await presage.evaluate({
    evaluators: [{ evaluator: "exact-match" }],
    evaluated_model_output: "The gold answer of this one is missing.",
    app: "world-model",
  });
  const fails = await presage.results.search({ evaluator_family: "exact-match", pass: false, limit: 6 });
  for (const [index, { id }] of fails.entries()) {
    if (id === null) continue;
    await presage.results.correct(id, {
      pass: index % 3 !== 0,
      comment: index % 3 === 0 ? "Rightly failed." : "The same state in other words.",
    });
  }
}
