import type {
  Evaluator,
  EvaluatorFamily,
  EvaluatorFamilyListResponse,
  EvaluatorListResponse,
} from "@presage/contract";
import type { CallOptions } from "../../call.ts";
import type { Transport } from "../../transport.ts";

export interface Evaluators {
  /** Lists every version of every family: `GET /v1/evaluators`. */
  list(options?: CallOptions): Promise<Evaluator[]>;
  /** Lists the families with their inputs and config schemas: `GET /v1/evaluator-families`. */
  listFamilies(options?: CallOptions): Promise<EvaluatorFamily[]>;
}

export function evaluators({ json }: Transport): Evaluators {
  return {
    async list(options) {
      const call = { method: "GET", path: "/v1/evaluators" } as const;
      return (await json<EvaluatorListResponse>(call, options)).evaluators;
    },
    async listFamilies(options) {
      const call = { method: "GET", path: "/v1/evaluator-families" } as const;
      return (await json<EvaluatorFamilyListResponse>(call, options)).evaluator_families;
    },
  };
}
