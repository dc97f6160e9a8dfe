import type { ModelCall } from "../evaluators/family.ts";

/** On whose behalf a judge asks, and for how long. */
export type JudgeCall = Omit<ModelCall<unknown>, "config">;
