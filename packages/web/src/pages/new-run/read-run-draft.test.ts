import { expect, test } from "bun:test";
import { noDraft, readRunDraft, suggestName } from "./read-run-draft.ts";

const profiles = [{ public_id: "p1", evaluator_family: "exact-match", name: "system:default" }];
const draft = { ...noDraft, dataset: "d", deployment: "default", profiles: "p1" };

test("a draft becomes a request", () => {
  const full = {
    ...draft,
    name: " one ",
    revision: "3",
    model: "m",
    temperature: "0",
    repeats: "2",
    ends: "e",
  };
  expect(readRunDraft(full, profiles, 100).request).toEqual({
    name: "one",
    dataset_id: "d",
    revision: 3,
    target: { deployment: "default", model: "m" },
    params: { temperature: 0 },
    mode: "teacher-forced",
    evaluators: [{ evaluator: "exact-match", profile_name: "system:default" }],
    ends: { environment: "e" },
    repeats: 2,
    concurrency: 16,
  });
});

test("a baseline has neither model nor sampling", () => {
  const { request } = readRunDraft(
    { ...draft, kind: "no-change", model: "m", temperature: "x" },
    profiles,
    100,
  );
  expect(request).toMatchObject({ target: { baseline: "no-change" } });
  expect(request).not.toHaveProperty("params");
});

test("a world predicts as it is configured", () => {
  const { request } = readRunDraft({ ...draft, kind: "world", world: "shop@3", seed: "1" }, profiles, 100);
  expect(request).toMatchObject({ target: { world: "shop@3" } });
  expect(request).not.toHaveProperty("params");
  expect(readRunDraft({ ...draft, kind: "world" }, profiles, 100).issues).toEqual({
    world: "Choose a world.",
  });
});

test("what is wrong stands at its field", () => {
  const wrong = {
    ...noDraft,
    repeats: "21",
    concurrency: "0",
    temperature: "-1",
    seed: "1.5",
    max_tokens: "a",
  };
  const { request, issues } = readRunDraft(wrong, profiles, 100);
  expect(request).toBeUndefined();
  expect(Object.keys(issues).sort()).toEqual([
    "concurrency",
    "dataset",
    "deployment",
    "max_tokens",
    "profiles",
    "repeats",
    "seed",
    "temperature",
  ]);
});

test("of more than 200 samples a pilot is proposed, and of more than 50 it can be chosen", () => {
  const limitOf = (scope: string, samples: number) =>
    readRunDraft({ ...draft, scope }, profiles, samples).request?.limit;
  expect([limitOf("", 200), limitOf("", 201)]).toEqual([undefined, 50]);
  expect([limitOf("pilot", 50), limitOf("pilot", 51)]).toEqual([undefined, 50]);
  expect(limitOf("all", 3_000)).toBeUndefined();
});

test("a run without a name has that of its target and dataset, so that the next one like it has the same", () => {
  expect(suggestName({ ...draft, mode: "free-running" }, "rooms")).toBe("default on rooms, free-running");
  expect(suggestName({ ...draft, kind: "no-change" }, "rooms")).toBe("no-change on rooms");
  expect(suggestName(draft, undefined)).toBe("");
  expect(readRunDraft(draft, profiles, 100, "default on rooms").request?.name).toBe("default on rooms");
  expect(readRunDraft({ ...draft, name: "mine" }, profiles, 100, "other").request?.name).toBe("mine");
  expect(readRunDraft(draft, profiles, 100).request).not.toHaveProperty("name");
});
