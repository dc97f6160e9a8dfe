import { expect, test } from "bun:test";
import { createKnownEpisodes, type EpisodeState } from "./episode.ts";

function episode(id: string, context: string): EpisodeState {
  const row = { id, task: "{}" } as EpisodeState["episode"]["row"];
  const config = { context: { environment_state: context } };
  return { episode: { row, config, task: { initial_state: "" } }, turns: [] };
}

test("episodes with long contexts displace those that were used least recently", () => {
  const known = createKnownEpisodes();
  for (let number = 0; number < 100; number += 1)
    known.keep(episode(String(number), "a room ".repeat(50_000)));
  expect(known.find("99")).toBeDefined();
  expect(known.find("0")).toBeUndefined();
});
