import type { Part } from "../part.ts";
import { fullEpisodesPlan, quickEpisodesPlan } from "./plan-episodes.ts";
import { runEpisodes } from "./run-episodes.ts";
import { judgeEpisodes, writeEpisodes } from "./write-episodes.ts";

export const episodesPart: Part = {
  title: "Episodes",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickEpisodesPlan : fullEpisodesPlan;
    const samples = await runEpisodes(group, await upstream(), plan);
    return { goals: judgeEpisodes(samples, plan), problems: [], text: writeEpisodes(samples, plan) };
  },
};
