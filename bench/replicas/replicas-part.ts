import type { Part } from "../part.ts";
import { judgeReplicas } from "./judge-replicas.ts";
import { fullReplicasPlan, quickReplicasPlan } from "./plan-replicas.ts";
import { findReplicasProblems, runReplicas } from "./run-replicas.ts";
import { writeReplicas } from "./write-replicas.ts";

export const replicasPart: Part = {
  title: "Replicas",
  measure: async ({ group, quick }) => {
    const plan = quick ? quickReplicasPlan : fullReplicasPlan;
    const result = await runReplicas(group, plan);
    return {
      goals: judgeReplicas(result, plan),
      problems: findReplicasProblems(result),
      text: writeReplicas(result, plan),
    };
  },
};
