import { createPresage, type Presage, PresageError } from "@presage/sdk";
import { evaluateTransitions } from "./evaluate-transitions.ts";
import { fillEpisodes } from "./fill-episodes.ts";
import { fillRuns } from "./fill-runs.ts";
import type { Transition } from "./read-transitions.ts";
import { type SetUp, setUp } from "./set-up.ts";
import { startServer } from "./start-server.ts";

const dayMs = 86_400_000;
/** How many days to fill, including today. */
const days = 28;
/** When the profile's threshold was raised. */
const revisedDaysAgo = 9;
const nightlyEvery = 3;

/** Fills a database with four weeks of usage: for each day, a server whose clock is set to that day predicts and evaluates. */
export async function fill(
  environment: Record<string, string>,
  apiKey: string,
  transitions: readonly Transition[],
): Promise<void> {
  let fixtures: SetUp | undefined;
  for (let daysAgo = days - 1; daysAgo >= 0; daysAgo -= 1) {
    const server = await startServer(environment, -daysAgo * dayMs);
    const as = (key: string) => createPresage({ baseUrl: server.url, apiKey: key, retries: 0 });
    fixtures ??= await setUp(as(apiKey));
    if (daysAgo === revisedDaysAgo)
      await as(apiKey).profiles.revise(fixtures.profileId, { config: { threshold: 0.9 } });
    const day = String(days - daysAgo).padStart(2, "0");
    await evaluateTransitions(
      as(fixtures.trainingKey),
      sampleOf(transitions, daysAgo, 25 + ((daysAgo * 7) % 18)),
      {
        runId: `training-${day}`,
        app: "world-model",
        model: "presage-sandbox",
      },
    );
    if (daysAgo % nightlyEvery === 0) {
      await evaluateTransitions(as(fixtures.nightlyKey), sampleOf(transitions, daysAgo + 100, 30), {
        runId: `nightly-${day}`,
        app: "nightly",
        model: "presage-sandbox",
      });
    }
    await sendInvalidRequests(as(fixtures.nightlyKey), 1 + (daysAgo % 4));
    if (daysAgo === 0) {
      await correctAndFail(as(apiKey));
      await fillRuns(server.url, apiKey, transitions);
      await fillEpisodes(as(apiKey));
    }
    await server.stop();
  }
}

/** A different sample for each day, but the same on every run. */
function sampleOf(transitions: readonly Transition[], seed: number, count: number): Transition[] {
  const indexes = Array.from(
    { length: Math.min(count, transitions.length) },
    (_, index) => seed * 37 + index * 11,
  );
  return indexes.flatMap((index) => transitions[index % transitions.length] ?? []);
}

/** Predictions that are rejected, so that the charts have failures. */
async function sendInvalidRequests(presage: Presage, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const refusal = await presage
      .predict({ interaction: { state: "", action: "look" } })
      .catch((error: unknown) => error);
    if (!(refusal instanceof PresageError)) throw refusal;
  }
}

/** A failed evaluation, and corrections by people. */
async function correctAndFail(presage: Presage): Promise<void> {
  await presage.evaluate({
    evaluators: [
      { evaluator: "judge", profile_name: "system:state-consistent" },
      { evaluator: "contains", profile_name: "names no tool" },
    ],
    evaluated_model_input: "State: You stand in the hall.\n\nAction: open the oak door",
    evaluated_model_output: "You open the oak door. Behind it lies the garden.",
    app: "world-model",
  });
  for (const evaluator_family of ["exact-match", "rouge-l"]) {
    const fails = await presage.results.search({ evaluator_family, pass: false, limit: 6 });
    for (const [index, { id }] of fails.entries()) {
      if (id === null) continue;
      const isRight = index % 3 === 0;
      const comment = isRight ? "Rightly failed." : "The same state in other words.";
      await presage.results.correct(id, { pass: !isRight, comment });
    }
  }
}
