import { expect, test } from "bun:test";
import { RealityFigures } from "@presage/contract";
import { type CheckedEpisode, exploitsOf, realityFigures } from "../../src/reality/figures.ts";
import { seeded, simulateChecks } from "../support/reality/simulate-checks.ts";

/** Checks of a simulation that always obeys, against a real environment that refuses one verb with this probability. */
function withRefused(seed: number, tasks: number, refused: number): CheckedEpisode[] {
  const random = seeded(seed);
  return simulateChecks({ seed, tasks, episodes: 12 * tasks, falseShare: 0.05 }).map((one) => {
    if (random() > 0.2) return one;
    return { ...one, verbs: [...(one.verbs ?? []), "force"], real: one.real && random() >= refused };
  });
}

test("the refused verb is the first exploit, with examples, and others are none", async () => {
  for (const refused of [0.5, 1]) {
    const episodes = withRefused(1, 30, refused);
    const { exploits } = RealityFigures.parse(await realityFigures(episodes, null));
    const [first, ...others] = exploits.verbs;
    expect(first).toMatchObject({ verb: "force", log_odds_ratio: { tasks: 30, note: null } });
    expect(first?.log_odds_ratio.interval?.lower).toBeGreaterThan(1);
    expect(first?.p_adjusted).toBeLessThan(0.001);
    if (refused === 1) expect(first?.true_successes).toBe(0);
    expect(others.filter(({ p_adjusted }) => (p_adjusted ?? 1) < 0.05)).toEqual([]);
    expect(exploits).toMatchObject({
      tested: 6,
      sentence: expect.stringMatching(/^"force" is in \d+ of the /),
    });
    expect(first?.examples).toHaveLength(3);
    for (const { episode_id, position } of first?.examples ?? []) {
      expect(episodes[position - 1]).toMatchObject({ episodeId: episode_id, simulated: true, real: false });
      expect(episodes[position - 1]?.verbs).toContain("force");
    }
  }
});

test("verbs that do not matter are found in 5 % of checks at most, also where tasks fail as a whole", async () => {
  for (const tasksFail of ["alike", "whole"] as const) {
    let found = 0;
    for (let seed = 1; seed <= 100; seed += 1) {
      const world = simulateChecks({ seed, tasks: 20, episodes: 200, falseShare: 0.3, tasksFail });
      // Each task gets its own verb; its episodes tend to end alike.
      const episodes = world.map((one) => ({ ...one, verbs: [...(one.verbs ?? []), `verb-${one.task}`] }));
      const { verbs } = await exploitsOf(episodes);
      if (verbs.some(({ p_adjusted }) => (p_adjusted ?? 1) < 0.05)) found += 1;
    }
    expect(found).toBeLessThanOrEqual(5);
  }
});

test("what is too little has no figure, and a reason", async () => {
  const [one] = simulateChecks({ seed: 1, tasks: 1, episodes: 1, falseShare: 0 });
  const few = { simulated: true, simulatedReward: null, steps: null, divergedAt: null, verbs: null };
  const nothing = await realityFigures(one ? [{ ...one, ...few }] : [], null);
  expect(RealityFigures.parse(nothing)).toMatchObject({
    reward: { absolute_error: { value: null, note: "No episode has a reward in both." } },
    divergence: null,
    exploits: {
      ...{ verbs: [], tested: 0 },
      sentence: "No actions of simulated successes are known: outcomes alone carry none.",
    },
  });
  const failed = withRefused(1, 6, 0.9).map((episode) => ({ ...episode, simulated: false }));
  expect((await exploitsOf(failed)).sentence).toBe("No checked episode succeeded in simulation.");
  const { exploits } = await realityFigures(withRefused(1, 3, 0.9), null);
  expect(exploits.sentence).toBe("Too few tasks: an interval takes 6.");
  expect(exploits.verbs[0]).toMatchObject({
    verb: "force",
    p_value: null,
    log_odds_ratio: { interval: null },
  });
  const { sentence } = (await realityFigures(withRefused(1, 1, 0), null)).exploits;
  expect(sentence).toMatch(/^\d false and \d+ true successes: to compare their actions takes 5 of each\.$/);
});

test("divergence counts the steps to the first other observation", async () => {
  const ends = [1, 2, 2, 5, null, null, 1, null];
  const [one] = simulateChecks({ seed: 1, tasks: 1, episodes: 1, falseShare: 0 });
  const episodes = ends.map((divergedAt, index) => ({
    ...(one as CheckedEpisode),
    ...{ task: `t${index}`, steps: divergedAt ?? 6, divergedAt },
  }));
  const { divergence } = RealityFigures.parse(await realityFigures(episodes, null));
  expect(divergence).toMatchObject({
    ...{ count: 8, tasks: 8, diverged: 5, median: 2 },
    sentence:
      "Of 8 episodes in 8 tasks, 5 saw something that reality does not show. Half of all do by step 2.",
  });
  expect(divergence?.steps.map(({ step, at_risk, survival }) => [step, at_risk, survival])).toEqual([
    [1, 8, 0.75],
    [2, 6, 0.5],
    [5, 4, 0.375],
    [6, 3, 0.375],
  ]);
  expect(divergence?.steps[0]?.interval).not.toBeNull();
  // Two differ at step 2, and eight ended before it.
  const early = Array.from({ length: 10 }, (_, index) => ({
    ...(one as CheckedEpisode),
    ...{ task: `t${index}`, steps: index < 2 ? 2 : 1, divergedAt: index < 2 ? 2 : null },
  }));
  expect((await realityFigures(early, null)).divergence?.sentence).toEndWith(
    "2 saw something that reality does not show. Half of all would by step 2, if those that ended earlier went on alike.",
  );
  const { divergence: fewer } = await realityFigures(episodes.slice(3), null);
  expect(fewer?.sentence).toEndWith(
    "reality does not show. After every step compared, more than half had not.",
  );
  const few = RealityFigures.parse(await realityFigures(episodes.slice(0, 5), null)).divergence;
  expect(few?.steps.every(({ interval }) => interval === null)).toBe(true);
});

test("rewards are compared where there are two", async () => {
  const episodes = simulateChecks({ seed: 3, tasks: 20, episodes: 300, falseShare: 0.2 });
  const { reward } = RealityFigures.parse(await realityFigures(episodes, null));
  expect(reward.absolute_error).toMatchObject({ count: 300, tasks: 20, note: null });
  expect(reward.spearman.interval?.lower).toBeGreaterThan(0);
});

test("what cannot be shown is not denied: a verb that all false successes have, of few tasks", async () => {
  const acted = { policy: null, simulated: true, episodeId: null, position: 1 };
  const episodes = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((task) => [
    { ...acted, task: String(task), real: true, verbs: ["activate"] },
    { ...acted, task: String(task), real: false, verbs: ["open"] },
  ]);
  const { sentence, verbs } = await exploitsOf(episodes);
  expect(verbs[0]?.log_odds_ratio.interval?.lower).toBeGreaterThan(0);
  expect(sentence).toBe("None of 2 actions, tested together, is shown to be in false successes more often.");
  // With few tasks no action is tested, even if none is more frequent in false successes.
  const alike = episodes.map((episode) => ({
    ...episode,
    task: `${Number(episode.task) % 5}`,
    verbs: ["look"],
  }));
  expect((await exploitsOf(alike)).sentence).toBe("Too few tasks: an interval takes 6.");
});

test("of more than 200 policies the last have figures, each with all that is said of pairs", async () => {
  const [one] = simulateChecks({ seed: 1, tasks: 1, episodes: 1, falseShare: 0 });
  if (one === undefined) throw new Error("There is no episode.");
  const episodes = Array.from({ length: 201 }, (_, at) => ({ ...one, policy: `p${at}`, replayed: at > 0 }));
  const { policies, policy_order, macro_consistency } = RealityFigures.parse(
    await realityFigures(episodes, null),
  );
  expect([policies.length, policies[0]?.policy, policies[199]?.policy]).toEqual([200, "p1", "p200"]);
  expect(policies[0]?.consistency?.replayed.value).toBe(1);
  expect(macro_consistency?.replayed.value).toBeCloseTo(200 / 201, 12);
  expect(policy_order.note).toBe("Only the last 200 policies have figures.");
});
