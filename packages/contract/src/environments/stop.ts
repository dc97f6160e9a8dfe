import { z } from "zod";
import { shortText } from "../text.ts";

/** The most rules that end an episode. */
export const maxStops = 50;
const maxPatternCharacters = 1_000;

/** How the agent did, as far as a stop rule or a step says. */
export const EpisodeOutcome = z.enum(["success", "failure"]);
export type EpisodeOutcome = z.infer<typeof EpisodeOutcome>;

const pattern = shortText(maxPatternCharacters);
const outcome = EpisodeOutcome.meta({ description: "How the episode ends." });
const described = {
  contains: "The observation contains this text. `{goal}` stands for the task's goal.",
  matches:
    "A part of the observation matches this pattern in RE2's syntax, which has neither look-around nor back references.",
  actionEquals: "The action is this text. `{goal}` stands for the task's goal.",
  actionMatches: "A part of the action matches this pattern in RE2's syntax.",
};

/** A rule that ends an episode. */
export const EpisodeStop = z
  .union([
    z.strictObject({ output_contains: pattern.meta({ description: described.contains }), outcome }),
    z.strictObject({ output_matches: pattern.meta({ description: described.matches }), outcome }),
    z.strictObject({ action_equals: pattern.meta({ description: described.actionEquals }), outcome }),
    z.strictObject({ action_matches: pattern.meta({ description: described.actionMatches }), outcome }),
  ])
  .meta({ id: "EpisodeStop" });
export type EpisodeStop = z.infer<typeof EpisodeStop>;
