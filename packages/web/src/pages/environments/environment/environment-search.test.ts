import { expect, test } from "bun:test";
import { readEnvironmentSearch, readPlaySearch } from "./environment-search.ts";

test("what is no state of the page is ignored", () => {
  expect(
    readEnvironmentSearch({ tab: "nothing", split: "all", index: -1, revision: 0, status: true }),
  ).toEqual({});
  const search = {
    tab: "tasks",
    split: "test",
    index: 0,
    outcome: "none",
    by: "split",
    sort: "-steps",
  } as const;
  expect(readEnvironmentSearch(search)).toEqual(search);
});

test("an episode that is played has a UUID", () => {
  const episode = "019aa5f7-1d10-7000-9b2e-4f6f5a2d9c41";
  expect(readPlaySearch({ episode, split: "train", index: 3 })).toEqual({
    episode,
    split: "train",
    index: 3,
  });
  expect(readPlaySearch({ episode: "../x", index: 1.5 })).toEqual({});
});
