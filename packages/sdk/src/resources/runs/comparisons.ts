import type {
  ComparedSample,
  ComparedSampleListQuery,
  ComparedSampleListResponse,
  Comparison,
} from "@presage/contract";
import type { CallOptions } from "../../call.ts";
import type { Transport } from "../../transport.ts";

/** Which samples of a comparison: of one evaluator, and whether the candidate's score is lower or higher. */
export type ComparedSampleFilter = Pick<ComparedSampleListQuery, "evaluator" | "profile_name" | "direction">;

/** The two runs of a list of samples. */
export interface ComparedPair {
  reference: string;
  candidate: string;
}

/** A part of a list of samples. */
export interface ComparedSamplePage {
  /** The most samples of the page. Default: 100. */
  limit?: number | undefined;
  /** The `next` of an earlier page. */
  after?: string | undefined;
}

export interface Comparisons {
  /** Compares runs with the first one: `GET /v1/comparisons`. At most 10. */
  get(runIds: readonly string[], options?: CallOptions): Promise<Comparison>;
  /** Lists one page of the samples that differ, the most different first: `GET /v1/comparisons/samples`. `next` is null on the last page. */
  listSamples(
    runs: ComparedPair,
    filter: ComparedSampleFilter & ComparedSamplePage,
    options?: CallOptions,
  ): Promise<{ data: ComparedSample[]; next: string | null }>;
  /** Yields the samples that differ, the most different first, page by page: `GET /v1/comparisons/samples`. */
  iterateSamples(
    runs: ComparedPair,
    filter: ComparedSampleFilter,
    options?: CallOptions,
  ): AsyncGenerator<ComparedSample, void, undefined>;
}

const path = "/v1/comparisons";

export function comparisons({ json }: Transport): Comparisons {
  const listSamples: Comparisons["listSamples"] = ({ reference, candidate }, filter, options) =>
    json<ComparedSampleListResponse>(
      {
        method: "GET",
        path: `${path}/samples`,
        query: { runs: `${reference},${candidate}`, ...filter },
      },
      options,
    );

  return {
    get: (runIds, options) => json({ method: "GET", path, query: { runs: runIds.join(",") } }, options),
    listSamples,
    async *iterateSamples(runs, filter, options) {
      let after: string | undefined;
      do {
        const page = await listSamples(runs, { ...filter, after }, options);
        yield* page.data;
        after = page.next ?? undefined;
      } while (after !== undefined);
    },
  };
}
