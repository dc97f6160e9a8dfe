import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { useRefusal } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import { usedRatesQuery } from "../../data/review.ts";
import { profileOf, rateId, searchOfRate, verdictsOf } from "../../data/summaries.ts";
import { formatCount } from "../../format/numbers.ts";
import { shortEvaluatorNames } from "../../format/words.ts";
import { inPlace } from "../../search-params.ts";
import { Select } from "../../ui/form/select.tsx";
import { Page } from "../../ui/page.tsx";
import { ReviewQueue } from "./review-queue.tsx";
import type { ReviewSearch } from "./review-search.ts";

export const reviewRoute = createLazyRoute("/review")({ component: ReviewPage });

function ReviewPage() {
  const search = reviewRoute.useSearch();
  const navigate = reviewRoute.useNavigate();
  const mayLabel = useRefusal("evaluate") === undefined;
  const { result: _result, ...filter } = search;
  const change = (next: ReviewSearch) => navigate({ search: next, ...inPlace });
  return (
    <Page
      title="Review"
      hint={
        mayLabel
          ? "Say what you think of each output: it shows how far evaluators can be trusted, and corrects them."
          : "What members and owners label. You may read it."
      }
      actions={
        search.drawn === undefined && (
          <ReviewFilter
            search={search}
            onChange={(rate) => change({ ...(search.run !== undefined && { run: search.run }), ...rate })}
          />
        )
      }
      isFull
    >
      <ReviewQueue
        key={JSON.stringify(filter)}
        search={search}
        onOpen={(id) => change({ ...filter, ...(id !== undefined && { result: id }) })}
      />
    </Page>
  );
}

interface ReviewFilterProps {
  search: ReviewSearch;
  onChange(rate: ReturnType<typeof searchOfRate>): void;
}

/** The evaluator and profile whose verdicts are reviewed, or all that have verdicts. */
function ReviewFilter({ search, onChange }: ReviewFilterProps) {
  const presage = usePresage();
  const { data } = useQuery(usedRatesQuery(presage));
  const rates = (data ?? []).filter((figures) => verdictsOf(figures) > 0);
  const nameOf = shortEvaluatorNames(rates.map(({ key }) => key.evaluator_id ?? ""));
  const isChosen = search.evaluator ?? search.profile ?? search.profile_id;
  const chosen = rates.find(({ key }) => {
    const of = searchOfRate(key);
    return (
      (search.evaluator === undefined || of.evaluator === search.evaluator) &&
      of.profile === search.profile &&
      of.profile_id === search.profile_id &&
      (search.revision === undefined || of.revision === search.revision)
    );
  });
  const value = isChosen === undefined ? "" : chosen === undefined ? "other" : rateId(chosen.key);
  return (
    <Select
      aria-label="Evaluator and profile"
      className="w-72 max-w-full"
      value={value}
      options={[
        { value: "", label: "All evaluators" },
        ...(value === "other" ? [{ value, label: isChosen ?? "" }] : []),
        ...rates.map((figures) => ({
          value: rateId(figures.key),
          label: [
            nameOf(figures.key.evaluator_id ?? ""),
            profileOf(figures.key),
            `${formatCount(verdictsOf(figures))} verdicts`,
          ]
            .filter((part) => part !== undefined)
            .join(" · "),
        })),
      ]}
      onChange={(chosenId) => {
        const rate = rates.find(({ key }) => rateId(key) === chosenId);
        onChange(rate === undefined ? {} : searchOfRate(rate.key));
      }}
    />
  );
}
