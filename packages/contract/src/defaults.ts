// The dashboard bundles this file too, so it imports nothing.
/**
 * Values used if the caller sets none. The schemas only document them; the server fills them in, because it must know
 * what the caller set: an unset `top_k` is not sent to the upstream.
 */
export const samplingDefaults = { max_tokens: 512, temperature: 0.2, top_p: 1, top_k: 0 } as const;

/** The profile that an evaluator's family uses if a request names none. */
export const defaultProfileName = "system:default";

/** Reports leave out steps with fewer trajectories: they show single trajectories, not how often the step is right. */
export const fewestTrajectories = 3;

/** Settings used if a world sets none. */
export const worldDefaults = {
  k: 8,
  max_chars: 12_000,
  weights: { action: 0.7, state: 0.2, task: 0.1 },
  exclude_by: "trajectory",
  place: "turns",
  min_similarity: 0,
  history: { steps: 4, max_chars: 8_000 },
} as const;
