import { installPortkey } from "../host/install-portkey.ts";
import type { Part } from "../part.ts";
import { findProblems } from "../report/problems.ts";
import { judgePredictions } from "./judge-predictions.ts";
import { fullPredictionsPlan, quickPredictionsPlan } from "./plan-predictions.ts";
import { runPredictions } from "./run-predictions.ts";
import { writePredictions } from "./write-predictions.ts";

export const predictionsPart: Part = {
  title: "Predictions",
  measure: async ({ group, upstream, quick, targets }) => {
    if (targets.includes("portkey")) await installPortkey();
    const plan = quick ? quickPredictionsPlan : fullPredictionsPlan;
    const result = await runPredictions(group, await upstream(), targets, plan);
    const failed = [...result.inFlight].flatMap(([name, { sent, succeeded }]) =>
      succeeded === sent ? [] : [`${name}: ${sent - succeeded} of ${sent} predictions in flight failed`],
    );
    return {
      goals: judgePredictions(result, plan),
      problems: [
        ...findProblems(
          result.samples,
          ({ target, scenario: { connections, delayMs }, round }) =>
            `${target} at ${connections} connections, ${delayMs} ms, round ${round + 1}`,
        ),
        ...failed,
      ],
      text: writePredictions(result, plan),
    };
  },
};
