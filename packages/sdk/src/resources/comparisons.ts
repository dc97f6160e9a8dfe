import type {
  ComparedSample,
  ComparedSampleListQuery,
  ComparedSampleListResponse,
  Comparison,
} from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

/** Which samples of a comparison: of one evaluator, and whether the candidate's score is lower or higher. */
export type ComparedSampleFilter = Pick<ComparedSampleListQuery, "evaluator" | "profile_name" | "direction">;

export interface Comparisons {
  /** Compares runs with the first one: `GET /v1/comparisons`. At most 10. */
  get(runIds: readonly string[], options?: CallOptions): Promise<Comparison>;
  /** Yields the samples that differ, the most different first, page by page: `GET /v1/comparisons/samples`. */
  iterateSamples(
    runs: { reference: string; candidate: string },
    filter: ComparedSampleFilter,
    options?: CallOptions,
  ): AsyncGenerator<ComparedSample, void, undefined>;
}

const path = "/v1/comparisons";

export function comparisons({ json }: Transport): Comparisons {
  return {
    get: (runIds, options) =>
      json({ method: "GET", path, query: { runs: runIds.join(",") }, isRepeatable: true }, options),
    async *iterateSamples({ reference, candidate }, filter, options) {
      let after: string | null | undefined;
      do {
        const page = await json<ComparedSampleListResponse>(
          {
            method: "GET",
            path: `${path}/samples`,
            query: { runs: `${reference},${candidate}`, ...filter, after },
            isRepeatable: true,
          },
          options,
        );
        yield* page.data;
        after = page.next;
      } while (after !== null);
    },
  };
}
