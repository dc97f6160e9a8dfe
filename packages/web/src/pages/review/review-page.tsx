import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { usePresage } from "../../data/client.ts";
import { usedRatesQuery } from "../../data/review.ts";
import { profileOf, rateId, searchOfRate, verdictsOf } from "../../data/summaries.ts";
import { formatCount } from "../../format/numbers.ts";
import { shortEvaluatorNames } from "../../format/words.ts";
import { Segmented, Switch } from "../../ui/form/choices.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Page } from "../../ui/page.tsx";
import { ReviewQueue } from "./review-queue.tsx";
import type { ReviewSearch } from "./review-search.ts";

export const reviewRoute = createLazyRoute("/review")({ component: ReviewPage });

const orders = [
  { value: "least-certain", label: "Least certain" },
  { value: "random", label: "Random" },
] as const;

function ReviewPage() {
  const search = reviewRoute.useSearch();
  const navigate = reviewRoute.useNavigate();
  const { result: _result, order: _order, blind: _blind, ...filter } = search;
  const change = (next: ReviewSearch) => navigate({ search: next, replace: true, resetScroll: false });
  const settings = {
    ...(search.order !== undefined && { order: search.order }),
    ...(search.blind !== undefined && { blind: search.blind }),
  };
  return (
    <Page
      title="Review"
      hint="Your verdict replaces the evaluator’s, and shows how far the evaluator can be trusted."
      actions={
        <>
          <ReviewFilter search={search} onChange={(rate) => change({ ...settings, ...rate })} />
          <Segmented
            label="Order"
            value={search.order ?? "least-certain"}
            options={orders}
            onChange={(order) =>
              change({
                ...filter,
                ...(search.blind && { blind: true }),
                ...(order === "random" && { order }),
              })
            }
          />
          <Switch
            label="Hide verdicts"
            isOn={search.blind === true}
            onChange={(isOn) => {
              const { blind: _, ...rest } = search;
              change({ ...rest, ...(isOn && { blind: true as const }) });
            }}
          />
        </>
      }
    >
      <ReviewQueue
        key={JSON.stringify([filter, search.order])}
        search={search}
        onOpen={(id) => {
          const { result: _, ...rest } = search;
          change({ ...rest, ...(id !== undefined && { result: id }) });
        }}
      />
    </Page>
  );
}

interface ReviewFilterProps {
  search: ReviewSearch;
  onChange(rate: ReturnType<typeof searchOfRate>): void;
}

/** Whose verdicts are reviewed: all, or one evaluator and profile of those that have any. */
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
